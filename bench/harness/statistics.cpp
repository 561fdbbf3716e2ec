// SPDX-License-Identifier: BSD-3-Clause
// statistics.cpp - order statistics, the binomial tail behind the median's interval, and Student's
// t.
#include "harness/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace heddle::bench {
namespace {

double median_of_sorted(const std::vector<double>& sorted) {
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

double percentile_of_sorted(const std::vector<double>& sorted, double share) {
  const auto exact = std::ceil(share * static_cast<double>(sorted.size()));
  const auto rank = static_cast<std::size_t>(std::max(exact, 1.0));
  return sorted[std::min(rank, sorted.size()) - 1];
}

/// Cuts as many samples off each end as both tails together weigh at most 5 %, less one: the number
/// below the median is binomial with probability one half.
interval median_interval_of_sorted(const std::vector<double>& sorted) {
  const auto n = static_cast<double>(sorted.size());
  double tail = 0, k = 0;
  for (; k < std::floor(n / 2); ++k) {
    const double log_ways = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
    tail += std::exp(log_ways - n * std::log(2.0));
    if (tail > 0.025) break;
  }
  const auto first = static_cast<std::size_t>(std::max(k - 1, 0.0));
  return {sorted[first], sorted[sorted.size() - 1 - first]};
}

/// The probability of at most `t`, which is not negative: the finite series in the angle whose
/// tangent is t / sqrt(freedom), of cosines to even powers for an even freedom, else to odd ones.
double student_t_share(double t, int freedom) {
  constexpr double half_pi = std::numbers::pi / 2;
  const double angle = std::atan(t / std::sqrt(freedom)), cosine = std::cos(angle);
  const bool odd = freedom % 2 != 0;
  double term = odd ? cosine : 1, sum = 0;
  for (int k = odd ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= cosine * cosine * (k - 1) / k;
  }
  const double within = std::sin(angle) * sum;
  return 0.5 + (odd ? (angle + within) / half_pi : within) / 2;
}

std::vector<double> sorted_copy(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples;
}

/// Twice the rank, which equal samples share: a whole number.
std::size_t doubled_rank(const std::vector<double>& sorted, double value) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
  return static_cast<std::size_t>((first - sorted.begin()) + (last - sorted.begin()) + 1);
}

/// What is to be expected of the sum of `count` of the doubled ranks.
double expected_sum(const std::vector<std::size_t>& ranks, std::size_t count) {
  return static_cast<double>(count * (ranks.size() + 1));
}

/// How probable it is that such a sum lies `distance` or farther from that: by counting all
/// choices.
double exactly_as_far(const std::vector<std::size_t>& ranks, std::size_t count, double distance) {
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  const double expected = expected_sum(ranks, count);
  // ways[k][s]: in how many ways k of the ranks have the sum s.
  std::vector<std::vector<double>> ways(count + 1, std::vector<double>(total + 1));
  ways[0][0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t k = count; k > 0; --k)
      for (std::size_t s = total; s >= rank; --s) ways[k][s] += ways[k - 1][s - rank];
  }
  double as_far = 0, every = 0;
  for (std::size_t s = 0; s <= total; ++s) {
    every += ways[count][s];
    if (std::abs(static_cast<double>(s) - expected) >= distance - 1e-9) as_far += ways[count][s];
  }
  return as_far / every;
}

/// The same by the normal distribution with the variance of such sums, and half a rank for their
/// being whole numbers.
double normally_as_far(const std::vector<std::size_t>& ranks, std::size_t count, double distance) {
  const auto n = static_cast<double>(ranks.size()), chosen = static_cast<double>(count);
  double squares = 0;
  for (const std::size_t rank : ranks) {
    const double off = static_cast<double>(rank) - expected_sum(ranks, 1);
    squares += off * off;
  }
  const double variance = chosen * (n - chosen) / (n - 1) * squares / n;
  return variance == 0 ? 1 : std::erfc(std::max(distance - 1, 0.0) / std::sqrt(2 * variance));
}

}  // namespace

double median(std::vector<double> samples) {
  return median_of_sorted(sorted_copy(std::move(samples)));
}

double percentile(std::vector<double> samples, double share) {
  return percentile_of_sorted(sorted_copy(std::move(samples)), share);
}

summary summarize(const std::vector<double>& samples) {
  const std::vector<double> sorted = sorted_copy(samples);
  return {.count = sorted.size(),
          .median = median_of_sorted(sorted),
          .p99 = percentile_of_sorted(sorted, 0.99),
          .minimum = sorted.front(),
          .maximum = sorted.back(),
          .ci95 = median_interval_of_sorted(sorted)};
}

double student_t_quantile(double share, int freedom) {
  double t = 0;
  for (double more = 1 << 20; more > 1e-12; more /= 2)
    if (student_t_share(t + more, freedom) < share) t += more;
  return t;
}

mean_estimate estimate_mean(const std::vector<double>& samples) {
  const auto n = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
  if (samples.size() < 2) return {mean, {mean, mean}};
  double squares = 0;
  for (const double s : samples) squares += (s - mean) * (s - mean);
  const double half = student_t_quantile(0.975, static_cast<int>(samples.size()) - 1) *
                      std::sqrt(squares / (n - 1) / n);
  return {mean, {mean - half, mean + half}};
}

double rank_sum_probability(const std::vector<double>& one, const std::vector<double>& other) {
  if (one.empty() || other.empty()) return 1;
  constexpr std::size_t most_exact = 100;
  std::vector<double> all = one;
  all.insert(all.end(), other.begin(), other.end());
  std::sort(all.begin(), all.end());
  std::vector<std::size_t> ranks;
  for (const double value : all) ranks.push_back(doubled_rank(all, value));
  double sum = 0;
  for (const double value : one) sum += static_cast<double>(doubled_rank(all, value));
  const double distance = std::abs(sum - expected_sum(ranks, one.size()));
  return all.size() <= most_exact ? exactly_as_far(ranks, one.size(), distance)
                                  : normally_as_far(ranks, one.size(), distance);
}

double overlap_ratio(double alone, double computed, double together) {
  const double shorter = std::min(alone, computed);
  return shorter <= 0 ? 0 : (alone + computed - together) / shorter;
}

}  // namespace heddle::bench
