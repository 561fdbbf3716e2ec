// SPDX-License-Identifier: BSD-3-Clause
// statistics.h - what a set of samples says: order statistics, because timings are not normal; and
// Student's t for the means of long runs, where the field has it.
#pragma once
#include <cstddef>
#include <vector>

namespace heddle::bench {

/// Ends of an interval, both included.
struct interval {
  double low = 0;
  double high = 0;
};

struct summary {
  std::size_t count = 0;
  double median = 0;
  double p99 = 0;  ///< the smallest sample that at least 99 % do not exceed
  double minimum = 0;
  double maximum = 0;
  /// The narrowest pair of order statistics, symmetric in rank, that holds the median of the
  /// underlying distribution with 95 % or more, whatever the distribution. Fewer than 6 samples can
  /// not promise that: then minimum and maximum (5 samples: 93.75 %).
  interval ci95;
};

/// Mean of the middle two when their number is even. `samples` must not be empty.
[[nodiscard]] double median(std::vector<double> samples);

/// The smallest sample that at least `share` (0 to 1) of all do not exceed. Must not be empty.
[[nodiscard]] double percentile(std::vector<double> samples, double share);

/// Must not be empty.
[[nodiscard]] summary summarize(const std::vector<double>& samples);

/// The value that Student's t with `freedom` degrees of freedom (1 or more) does not exceed with
/// probability `share`, which is above 0.5 and below 1.
[[nodiscard]] double student_t_quantile(double share, int freedom);

/// A mean and its 95 % interval by Student's t over the samples; of one sample, the sample itself.
struct mean_estimate {
  double mean = 0;
  interval ci95;
};
[[nodiscard]] mean_estimate estimate_mean(const std::vector<double>& samples);

/// How probable it is, if both sets are from the same distribution, that their ranks lie apart as
/// far as these do or farther: the Mann-Whitney test, two-sided, also where samples are equal. Of
/// up to 100 samples exact, of more by the normal approximation. 1 where one of them is empty.
[[nodiscard]] double rank_sum_probability(const std::vector<double>& one,
                                          const std::vector<double>& other);

/// What share of the shorter one hides behind the other when a transfer and a computation run
/// together: (alone + computed - together) / min(alone, computed). 1: all of it, 0: nothing, below
/// 0: they hinder each other (Trahay, Denis, Aumage, Namyst, section 4.1). 0 when one of them is
/// nothing.
[[nodiscard]] double overlap_ratio(double alone, double computed, double together);

}  // namespace heddle::bench
