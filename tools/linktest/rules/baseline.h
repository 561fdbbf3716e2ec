// SPDX-License-Identifier: BSD-3-Clause
// baseline.h - the results of an earlier run, and what has become slower since.
#pragma once
#include <string>
#include <vector>

#include "linktest/results/run_facts.h"
#include "linktest/rules/rule.h"

namespace heddle::linktest {

/// What slower_than() calls the rule that it holds pairs against.
inline constexpr const char* slower_rule = "as fast as the baseline";
/// And the beginning of what a run misses whose baseline is of another job, before the reason.
inline constexpr const char* comparable_rule = "comparable with the baseline";

/// An earlier run of the same pairs.
struct baseline {
  results all;
  std::vector<std::string> hosts;  ///< by rank
  std::string traffic;             ///< as traffic_of() says it
  std::string layer;
  std::vector<std::string> routes;  ///< as run_facts has them; none: not known
};

/// The options that chose a run's messages: "--kernel semi --op send". Empty: they are unknown.
[[nodiscard]] std::string traffic_of(const options& chosen);

/// Reads any file or folder that read_results() can. Throws usage_error naming it, the
/// cause and the cure.
[[nodiscard]] baseline read_baseline(const std::string& path);

/// Throws usage_error, with the cure, where `path` would be a section of an earlier run of several
/// that has none of that name.
void prove_baseline(const std::string& path);

/// Why the two runs cannot be compared, in words; empty when they can: the same number of ranks and
/// sizes, the same traffic over the same layer, and the ranks on the same hosts.
[[nodiscard]] std::string incomparable(const baseline& before, const results& now,
                                       const run_facts& facts_now);

/// Pairs whose median time has grown by more than both runs' intervals and `tolerance` (a share)
/// allow: the fast end of now is above the slow end of then. Without intervals the medians count.
/// One entry per size.
[[nodiscard]] std::vector<broken_rule> slower_than(const baseline& before, const results& now,
                                                   double tolerance);

}  // namespace heddle::linktest
