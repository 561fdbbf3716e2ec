// SPDX-License-Identifier: BSD-3-Clause
// liveness.h - peers that go silent, die or break the rules.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/looks.h"
#include "protocols/calls.h"
#include "protocols/lost_peers.h"
#include "protocols/tagged.h"

namespace heddle::protocols {

/// Asks peers that owe something for a sign of life, and ends everything of those that are gone.
/// Owns no requests. Holder only.
class liveness final : public protocol, public path::loser {
 public:
  liveness(const surroundings& where, path& way, peer_table& peers, operations& ops, tagged& tags,
           calls& large_calls, port_counters& counters)
      : protocol(way),
        where_(where),
        peers_(peers),
        ops_(ops),
        tagged_(tags),
        calls_(large_calls),
        counters_(counters) {}

  /// The peer is given up: from here on its rank is dead for this lane. What it owes us ends,
  /// nothing goes to it, and nothing is taken from it any more.
  void lose(peer& p, std::string why) override;
  /// A wire has lost the peer, which it knew as `on`; `code` as event::code. Its rank is dead as
  /// well, but what came from its other lanes and over its other wires before that is still taken:
  /// they are given the time until the next look. A rail that could not be made is done without.
  void left(peer& p, const transport::remote_lane& on, status code, std::string why);
  /// Every now and then while anything is in flight. A peer's silence counts only as far as this
  /// rank has looked: not while nothing was due, the program did not poll, or it had no core.
  void look(std::uint64_t now_ns);
  /// Ends every operation with `code`.
  void abort(status code);

  void on_message(peer& from, const message& m) override;

 private:
  void note(const peer& p, std::string why);
  void end_rank(rank r);
  void end(peer& p);
  void end_requests(peer& p, status code);
  void look_at(peer& p, std::uint64_t now_ns);

  const surroundings& where_;
  peer_table& peers_;
  operations& ops_;
  tagged& tagged_;
  calls& calls_;
  port_counters& counters_;
  std::vector<rank> leaving_;  // of whose lanes not all are lost yet
  looks looks_{0};
};

}  // namespace heddle::protocols
