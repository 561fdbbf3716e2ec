// metrics.cpp - formulas and units.
#include "linktest/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

}  // namespace

std::string_view name_of(kernel k) noexcept {
  constexpr std::array<std::string_view, 3> names{"semi", "bi", "uni"};
  return names[static_cast<std::size_t>(k)];
}

double seconds_per_message(kernel k, double elapsed_s, std::uint64_t messages) noexcept {
  const auto n = static_cast<double>(messages);
  return k == kernel::uni ? elapsed_s / n : elapsed_s / (2 * n);
}

double bytes_per_second(kernel k, std::uint64_t size_bytes, double message_s) noexcept {
  if (!(message_s > 0)) return nan;
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
