// SPDX-License-Identifier: BSD-3-Clause
// verdict.h - what a diagnosis says: which part is slow, why that is believed, what was looked at.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::linktest {

/// The part that a verdict accuses.
enum class culprit : std::uint8_t {
  node_tx,     ///< all that a node sends is slow
  node_rx,     ///< all that a node receives is slow
  node,        ///< both ways, or the kernel does not tell the ways apart
  rail,        ///< one rail of a node; its other rails are as usual
  link,        ///< what goes from one node to another, or over one cable; both ends are as usual
  contention,  ///< slow only while others communicate, as usual alone: no part is broken
};
/// "node_tx", "node_rx", "node", "rail", "link", "contention": as in files and in --help.
[[nodiscard]] std::string_view name_of(culprit what) noexcept;

/// One finding. A node is a rank, or a host where one rank stands for its host.
struct verdict {
  culprit what = culprit::node;
  int node = -1;           ///< the one accused; the sender of a link
  int peer = -1;           ///< the receiver of a link; -1: none
  int rail = -1;           ///< of `node`, over which alone that is so; -1: not one rail
  std::string cable;       ///< of a link, where routes are known; empty: between node and peer
  std::int64_t step = -1;  ///< of contention: when it was seen
  double factor = 1;       ///< how many times as long as usual for pairs of its class; > 1
  double confidence = 0;   ///< 0 to 1: 1 - the chance that noise of a healthy network shows this
  bool retested = false;   ///< false: the first measurement alone says so
  std::string evidence;    ///< in plain words, one or more sentences
  std::vector<std::string> or_else;  ///< what the measurements cannot tell from it
};

/// What the measurements could have shown.
struct coverage {
  std::uint64_t pairs = 0, possible_pairs = 0;  ///< ordered
  std::uint64_t nodes = 0, all_nodes = 0;       ///< with two partners or more; of all
  std::uint64_t links = 0, all_links = 0;       ///< cables crossed; 0 of 0: routes not known
  std::uint64_t retests = 0;                    ///< measurements made to make sure
  std::uint64_t more_contention = 0;            ///< found besides the verdicts, and less strong
  std::uint64_t not_retested = 0;               ///< suspects for which the retests did not suffice
};

/// Verdicts, the strongest first; none means: nothing found, in what `seen` says was looked at.
struct diagnosis {
  std::vector<verdict> verdicts;
  coverage seen;
};

/// Whether some part is slow; contention alone is no slow part.
[[nodiscard]] bool found_slow_part(const diagnosis& d) noexcept;

/// What to call each rank, from the ranks' hosts: "rank 2 (node1)".
[[nodiscard]] std::vector<std::string> names_of_ranks(const std::vector<std::string>& hosts);
/// A paragraph, with what to call each node; empty: "node N".
[[nodiscard]] std::string in_words(const verdict& v, const std::vector<std::string>& names);
/// One paragraph per verdict, or "Nothing found", and the coverage.
[[nodiscard]] std::string in_words(const diagnosis& d, const std::vector<std::string>& names);

}  // namespace heddle::linktest
