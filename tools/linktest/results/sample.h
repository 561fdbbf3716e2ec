// SPDX-License-Identifier: BSD-3-Clause
// sample.h - a small run for tests: three ranks on two hosts, one pair lost, one corrupted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

inline run_facts sample_facts() {
  run_facts facts;
  facts.chosen.sizes = {8, 1024};
  facts.chosen.seed = ~std::uint64_t{0};
  facts.chosen.slowest = 1;
  facts.chosen.width = 80;
  facts.hosts = {"alpha", "alpha", "beta"};
  facts.routes = {"near", "wide"};
  facts.version = "1.2.3";
  facts.started = "2025-01-31T23:59:59Z";
  facts.ended = "2025-02-01T00:00:09Z";
  facts.elapsed_s = 10;
  return facts;
}

/// 3 ranks, time from r to p is (10 r + p) us; 1 -> 2 was lost, 2 -> 0 corrupted at 1024 bytes.
inline results sample_results() {
  results all(3, kernel::semi, {8, 1024});
  for (int r = 0; r < 3; ++r) {
    row mine(2, 3, 1);
    for (int p = 0; p < 3; ++p) {
      if (p == r || (r == 1 && p == 2)) continue;
      for (std::size_t s = 0; s < 2; ++s) mine.add_time(s, p, (10 * r + p) * 1e-6);
    }
    if (r == 1) mine.mark_all_sizes(2, pair_state::lost);
    if (r == 2) mine.mark(1, 0, pair_state::corrupted);
    all.set_row(r, mine.records());
  }
  return all;
}

/// The same with all that can be known.
inline run_facts full_facts() {
  run_facts facts = sample_facts();
  facts.command = "heddle linktest -n 3";
  facts.environment = {{"HEDDLE_SPIN_US", "5"}};
  facts.machines = {{"alpha", {{"processor", "Example 1"}, {"kernel", "6.1"}}},
                    {"beta", {{"processor", "Example 2"}}}};
  facts.places = {{"0-1", {0, 1}, 0}, {"2", {2}, 0}, {"0", {0}, -1}};
  facts.interrupted = true;
  facts.disturbed = "rank 2 (beta) 31 %";
  facts.layers = "Layers, medians  near  wide\n8 B  1 us  2 us\n";
  verdict& slow = facts.slow.emplace().verdicts.emplace_back();
  slow.what = culprit::link;
  slow.node = 1;
  slow.peer = 2;
  slow.factor = 3.5;
  slow.evidence = "1 to 2 is slow.";
  facts.slow->seen.pairs = 4;
  facts.slow->seen.possible_pairs = 6;
  return facts;
}

/// Of a run with a rule that three pairs miss.
inline run_facts facts_of_a_missed_rule() {
  run_facts facts = full_facts();
  facts.chosen.search.expect = {"other:time<=1e-5"};
  facts.chosen.search.baseline = "before";
  facts.missed = {{"other:time<=1e-5", 1024, 3, 4, 2, 1, 21e-6, 1e-5}};
  return facts;
}

/// What a writer of files of text writes.
template <class Write>
std::string text_of(const Write& write, const run_facts& facts, const results& all) {
  std::string out;
  write([&out](std::string_view piece) { out += piece; }, facts, all);
  return out;
}

}  // namespace heddle::linktest
