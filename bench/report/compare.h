// SPDX-License-Identifier: BSD-3-Clause
// compare.h - what changed between two runs of the same benchmarks, beyond the noise.
#pragma once
#include <string>
#include <vector>

#include "report/record.h"

namespace heddle::bench {

enum class verdict { same, better, worse };

/// One figure that both runs have.
struct change {
  record before, after;
  double probability = 1;  ///< of such a difference by chance; 1 where rounds are not known
  verdict what = verdict::same;
};

/// When a difference counts.
struct thresholds {
  double share = 0.05;        ///< of the median, at least
  double probability = 0.01;  ///< of chance, at most
};

/// The figures of Heddle in both, in the order of `after`: of those that are alike in all but what
/// was measured, the first with the first. Rates and bandwidths are better when
/// larger, times when smaller; ratios, scalings and the cache line are not judged.
[[nodiscard]] std::vector<change> compare(const std::vector<record>& before,
                                          const std::vector<record>& after, const thresholds& when);

/// A line for each that changed, or for `all`, and a count of the others.
[[nodiscard]] std::string compare_table(const std::vector<change>& changes, bool all);

}  // namespace heddle::bench
