// color_scale.cpp - the logarithmic scale and the common unit.
#include "linktest/color_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "linktest/metrics.h"

namespace heddle::linktest {
namespace {

struct named_unit {
  double size;
  std::string_view name;
};
constexpr std::array<named_unit, 4> time_units{
    {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}};
constexpr std::array<named_unit, 4> rate_units{
    {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}}};

}  // namespace

color_scale::color_scale(std::span<const double> values, bool is_time) : is_time_(is_time) {
  constexpr double least_ratio = 1.25;
  const spread all = spread_of(values);
  low_ = all.min;
  high_ = all.max;
  if (is_time)
    high_ = std::max(high_, low_ * least_ratio);
  else
    low_ = std::min(low_, high_ / least_ratio);
  const auto& units = is_time ? time_units : rate_units;
  named_unit chosen = units.front();
  for (const named_unit& u : units)
    if (all.median >= u.size) chosen = u;
  unit_size_ = chosen.size;
  unit_ = chosen.name;
}

double color_scale::badness(double value) const noexcept {
  const double part = std::log(value / low_) / std::log(high_ / low_);
  return std::clamp(is_time_ ? part : 1 - part, 0.0, 1.0);
}

std::string color_scale::number(double value) const {
  const double scaled = value / unit_size_;
  if (scaled >= 99'999.5 || scaled < 0.01) return fmt::format("{:.1e}", scaled);
  return fmt::format("{:.{}f}", scaled, scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0);
}

}  // namespace heddle::linktest
