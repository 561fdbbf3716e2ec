// SPDX-License-Identifier: BSD-3-Clause
// ladder.h - which pairs to measure again, so that the right part is accused: rung by rung.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "linktest/diagnose/observation.h"
#include "linktest/diagnose/retests.h"
#include "linktest/diagnose/suspects.h"

namespace heddle::linktest {

/// The retests for some suspects.
class ladder {
 public:
  /// All outlive it. Ports and pairs index `seen`, cables `all_seen`.
  ladder(std::span<const observation> seen, std::span<const observation> all_seen,
         const surroundings& where, int rails, suspects& all, retests& book)
      : seen_(seen), all_seen_(all_seen), where_(where), rails_(rails), all_(all), book_(book) {}

  /// Repeats slow pairs, alone and in their step; drops from the suspects what is as usual in both.
  /// Returns how many suspects there were too many to repeat, and were dropped too.
  std::size_t repeat();
  /// Measures the nodes of what is left with other partners, each way and over each rail.
  void swap_partners();

  /// The nodes that are suspected themselves or are ends of suspected pairs, at most so
  /// many as where.most_suspects.
  [[nodiscard]] const std::set<int>& nodes() const noexcept { return nodes_; }

 private:
  /// Repeating a pair is cheap beside swapping partners, and drops most of what was chance.
  static constexpr std::size_t pairs_per_suspect = 16, partners = 4, references = 8;

  void collect_nodes();
  void add_references(std::uint8_t kind, std::vector<probe>& out) const;
  static void add_pair(const observation& o, std::size_t times, std::vector<probe>& out);
  void add_around(int node, std::vector<probe>& out) const;
  [[nodiscard]] std::vector<int> partners_for(int node) const;
  [[nodiscard]] std::set<std::uint8_t> kinds_in(std::span<const probe> probes) const;

  std::span<const observation> seen_, all_seen_;
  const surroundings& where_;
  int rails_;
  suspects& all_;
  retests& book_;
  std::set<int> nodes_;
  std::map<int, std::uint8_t> kind_;  // in which a node came under suspicion
};

}  // namespace heddle::linktest
