// SPDX-License-Identifier: BSD-3-Clause
// metrics.cpp - formulas and units.
#include "linktest/results/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace heddle::linktest {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Three significant digits without an exponent, for 1 <= value < 1000 and what rounds to 1000.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string scaled(double value, std::span<const std::string_view> units) {
  std::size_t i = 0;
  while (i + 1 < units.size() && value >= 999.5) {
    value /= 1000;
    ++i;
  }
  return fmt::format("{} {}", three_digits(value), units[i]);
}

std::vector<float> sorted_known(std::span<const float> values) {
  std::vector<float> known;
  known.reserve(values.size());
  std::copy_if(values.begin(), values.end(), std::back_inserter(known),
               [](float v) { return !std::isnan(v); });
  std::sort(known.begin(), known.end());
  return known;
}

float median_of_sorted(const std::vector<float>& values) noexcept {
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

float quantile(const std::vector<float>& sorted, double p) noexcept {
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

/// The largest r, counted from 1, for which the r-th smallest and the r-th largest of n values hold
/// the median between them with a probability of 95 %: that fewer than r values fall on one side
/// has at most 2.5 %. 0: there is none.
std::size_t interval_rank(std::size_t n) noexcept {
  constexpr std::size_t many = 500;  // 2^-n is a number up to here, and normal enough above
  const auto count = static_cast<double>(n);
  if (n > many) return static_cast<std::size_t>((count - 1.96 * std::sqrt(count)) / 2);
  double term = std::pow(0.5, count), below = 0;  // of exactly k; of fewer than k + 1
  for (std::size_t k = 0; k < n; ++k) {
    below += term;
    if (below > 0.025) return k;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return 0;
}

}  // namespace

std::string_view name_of(kernel k) noexcept {
  constexpr std::array<std::string_view, 4> names{"semi", "bi", "uni", "unknown"};
  return names[static_cast<std::size_t>(k)];
}

std::string_view name_of(operation op) noexcept {
  constexpr std::array<std::string_view, 5> names{"send", "put", "get", "call", "unknown"};
  return names[static_cast<std::size_t>(op)];
}

double seconds_per_message(kernel k, double elapsed_s, std::uint64_t messages) noexcept {
  const auto n = static_cast<double>(messages);
  return k == kernel::uni ? elapsed_s / n : elapsed_s / (2 * n);
}

double bytes_per_second(kernel k, std::uint64_t size_bytes, double message_s) noexcept {
  if (!(message_s > 0) || k == kernel::unknown) return nan;
  const double directions = k == kernel::bi ? 2 : 1;
  return directions * static_cast<double>(size_bytes) / message_s;
}

spread spread_of(std::span<const double> values) {
  std::vector<double> known;
  known.reserve(values.size());
  std::copy_if(values.begin(), values.end(), std::back_inserter(known),
               [](double v) { return !std::isnan(v); });
  if (known.empty()) return {nan, nan, nan};
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  double median = *middle;
  if (known.size() % 2 == 0) median = (median + *std::max_element(known.begin(), middle)) / 2;
  const auto [low, high] = std::minmax_element(known.begin(), known.end());
  return {*low, median, *high};
}

sketch sketch_of(std::span<const float> values) {
  std::vector<float> known = sorted_known(values);
  sketch out;
  out.n = static_cast<std::uint32_t>(known.size());
  if (known.empty()) return out;
  out.min = known.front();
  out.max = known.back();
  out.mean = static_cast<float>(std::accumulate(known.begin(), known.end(), 0.0) /
                                static_cast<double>(known.size()));
  out.median = median_of_sorted(known);
  out.p90 = quantile(known, 0.90);
  out.p99 = quantile(known, 0.99);
  if (const std::size_t rank = interval_rank(known.size()); rank != 0) {
    out.ci_low = known[rank - 1];
    out.ci_high = known[known.size() - rank];
  }
  for (float& v : known) v = std::abs(v - out.median);
  std::sort(known.begin(), known.end());
  out.mad = median_of_sorted(known);
  return out;
}

double shortest(double value) {
  return std::stod(fmt::format("{}", static_cast<float>(value)));
}

std::string format_seconds(double seconds) {
  constexpr std::array<std::string_view, 4> units{"ns", "us", "ms", "s"};
  return std::isnan(seconds) ? "-" : scaled(seconds * 1e9, units);
}

std::string format_bandwidth(double bytes_per_s) {
  constexpr std::array<std::string_view, 5> units{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return std::isnan(bytes_per_s) ? "-" : scaled(bytes_per_s, units);
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> units{"B", "KiB", "MiB", "GiB"};
  std::size_t i = 0;
  auto value = static_cast<double>(bytes);
  while (i + 1 < units.size() && value >= 1024) {
    value /= 1024;
    ++i;
  }
  return value == std::floor(value) ? fmt::format("{:.0f} {}", value, units[i])
                                    : fmt::format("{:.3g} {}", value, units[i]);
}

}  // namespace heddle::linktest
