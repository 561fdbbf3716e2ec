// statistics.cpp - order statistics, and the binomial tail behind the median's interval.
#include "bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace heddle::bench {
namespace {

double median_of_sorted(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double percentile_of_sorted(const std::vector<double>& sorted, double share) {
  const auto exact = std::ceil(share * static_cast<double>(sorted.size()));
  const auto rank = static_cast<std::size_t>(std::max(exact, 1.0));
  return sorted[std::min(rank, sorted.size()) - 1];
}

/// How many samples may be cut off each end so that both tails together weigh at most 5 %: the
/// number below the median is binomial with probability one half.
std::size_t samples_to_cut(std::size_t count) {
  const auto n = static_cast<double>(count);
  double tail = 0;
  std::size_t cut = 0;
  while (cut < count / 2) {
    const auto k = static_cast<double>(cut);
    const double log_ways = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
    tail += std::exp(log_ways - n * std::log(2.0));
    if (tail > 0.025) break;
    ++cut;
  }
  return cut;
}

interval median_interval_of_sorted(const std::vector<double>& sorted) {
  const std::size_t cut = samples_to_cut(sorted.size());
  const std::size_t first = cut == 0 ? 0 : cut - 1;
  return {sorted[first], sorted[sorted.size() - 1 - first]};
}

std::vector<double> sorted_copy(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples;
}

}  // namespace

double median(std::vector<double> samples) {
  return median_of_sorted(sorted_copy(std::move(samples)));
}

double percentile(std::vector<double> samples, double share) {
  return percentile_of_sorted(sorted_copy(std::move(samples)), share);
}

interval median_interval(std::vector<double> samples) {
  return median_interval_of_sorted(sorted_copy(std::move(samples)));
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

double overlap_ratio(double alone, double computed, double together) {
  const double shorter = std::min(alone, computed);
  return shorter <= 0 ? 0 : (alone + computed - together) / shorter;
}

}  // namespace heddle::bench
