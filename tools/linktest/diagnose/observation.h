// SPDX-License-Identifier: BSD-3-Clause
// observation.h - what a diagnosis is made from: who took how long with whom, and what is known of
// the network around them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace heddle::linktest {

/// One measured time. Nodes are ranks, or hosts where one rank stands for its host; from 0.
struct observation {
  std::int32_t from = 0, to = 0;  ///< who started the clock, and for uni sends; who answered
  std::int32_t step = -1;         ///< of the plan; -1: a retest alone
  float seconds = 0;              ///< per message; > 0
  float uncertainty = 0;          ///< half the 95 % interval of `seconds`, as a share of it
  std::int16_t rail = -1;         ///< at both ends; -1: one rail, or not known
  std::uint8_t kind = 0;          ///< class of pair; only pairs of one class are compared
  bool isolated = false;          ///< nobody else communicated meanwhile
};

/// What is known of the network besides the times.
struct surroundings {
  int nodes = 0;
  int hosts = 0;  ///< that they are on; 0: as many
  /// True for one-way traffic (kernel uni): only that tells a slow sender from a slow receiver.
  bool one_way = false;
  /// The class of a pair, as in observation::kind. Empty: all pairs are of one class.
  std::function<std::uint8_t(int, int)> kind_of;
  /// Whether pairs of a class are on one host, so that its network cards are no part of them.
  /// Empty: none are.
  std::function<bool(std::uint8_t kind)> on_one_host;
  /// Replaces `cables` by those that messages between two nodes cross inside the network. Empty:
  /// routes are not known, and a slow cable is reported as slow pairs.
  std::function<void(int from, int to, std::vector<std::uint32_t>& cables)> route;
  std::function<std::string(std::uint32_t cable)> cable_name;  ///< given with `route`
  std::uint64_t all_cables = 0;                                ///< given with `route`
  /// Nodes of which the times say nothing: they have no observations, and are nobody's partner in a
  /// retest.
  std::set<int> left_out;
  /// How many suspects of each sort are measured again, the strongest: each costs a dozen retests.
  std::size_t most_suspects = 64;
  /// What is less slow than this is no finding: a factor, > 1.
  double least_factor = 1.25;
  /// The same for contention, since pairs that share cables are a little slow in any network.
  double least_contention = 1.6;

  /// As the times of real ranks are judged: retests take time there, and pairs share more than
  /// cables. `slow`: the factor of --slow.
  void judge_by(double slow) noexcept {
    most_suspects = 12;
    least_factor = slow;
    least_contention = slow > 2 ? slow : 2;
  }
};

/// A wish to measure a pair once more. Travels between ranks as these bytes.
struct probe {
  std::int32_t from = 0, to = 0;
  std::int32_t rail = -1;  ///< -1: one rail, or whichever
  std::int32_t step = -1;  ///< -1: alone; else with all other pairs of that step of the plan
};

}  // namespace heddle::linktest
