// SPDX-License-Identifier: BSD-3-Clause
// robust.cpp - medians and the control of many tests.
#include "linktest/diagnose/robust.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace heddle::linktest {

float order_statistic(std::span<float> values, double share) noexcept {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

float low_median(std::span<float> values) noexcept {
  return order_statistic(values, 0.5);
}

double robust_sigma(std::span<float> values, float center) noexcept {
  for (float& v : values) v = std::abs(v - center);
  constexpr double sigma_per_mad = 1.4826;
  return sigma_per_mad * static_cast<double>(low_median(values));
}

double chance_above(double z) noexcept {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

double discovery_limit(std::vector<double> small, std::size_t tests, double rate) {
  std::sort(small.begin(), small.end());
  double limit = 0;
  for (std::size_t i = 0; i < small.size(); ++i)
    if (small[i] <= rate * static_cast<double>(i + 1) / static_cast<double>(tests))
      limit = std::max(small[i], std::numeric_limits<double>::min());
  return limit;
}

}  // namespace heddle::linktest
