// SPDX-License-Identifier: BSD-3-Clause
// palette.cpp - the ramp, the escape sequences, the logarithmic scale and the common unit.
#include "linktest/draw/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "linktest/results/metrics.h"

namespace heddle::linktest {
namespace {

struct stop {
  std::uint8_t r, g, b;
};
constexpr std::array<stop, 7> stops{{{48, 16, 92},
                                     {56, 66, 140},
                                     {38, 112, 146},
                                     {30, 156, 138},
                                     {96, 200, 98},
                                     {190, 222, 54},
                                     {254, 236, 80}}};
// Of the 256 colours those that are most like the ramp, each lighter than the one before: the
// nearest ones by distance would be greys at the good end.
constexpr std::array<std::uint8_t, 11> indexed{53, 54, 25, 31, 36, 72, 77, 113, 149, 185, 227};

struct named_unit {
  double size;
  std::string_view name;
};
constexpr std::array<named_unit, 4> time_units{
    {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}};
constexpr std::array<named_unit, 4> rate_units{
    {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}}};

std::uint8_t between(std::uint8_t a, std::uint8_t b, double part) noexcept {
  return static_cast<std::uint8_t>(std::lround(a + (b - a) * part));
}

std::string sequence(color c, color_depth depth, int first) {
  if (depth == color_depth::none) return {};
  if (depth == color_depth::indexed) return fmt::format("\033[{};5;{}m", first, c.index);
  return fmt::format("\033[{};2;{};{};{}m", first, c.r, c.g, c.b);
}

}  // namespace

color ramp(double badness) noexcept {
  const double whole = std::clamp(badness, 0.0, 1.0);
  const double at = whole * (stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const double part = at - static_cast<double>(i);
  const stop a = stops[i], b = stops[i + 1];
  const auto nearest = static_cast<std::size_t>(std::lround(whole * (indexed.size() - 1)));
  return {between(a.r, b.r, part), between(a.g, b.g, part), between(a.b, b.b, part),
          indexed[nearest]};
}

color readable_on(color c) noexcept {
  const double lightness = 0.299 * c.r + 0.587 * c.g + 0.114 * c.b;
  return lightness > 140 ? color{0, 0, 0, 16} : color{255, 255, 255, 231};
}

std::string foreground(color c, color_depth depth) {
  return sequence(c, depth, 38);
}
std::string background(color c, color_depth depth) {
  return sequence(c, depth, 48);
}
std::string plain(color_depth depth) {
  return depth == color_depth::none ? "" : "\033[0m";
}

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

std::string color_scale::number(double value, int room) const {
  const double scaled = value / unit_size_;
  const auto fits = [room](const std::string& text) {
    return static_cast<int>(text.size()) <= room;
  };
  if (scaled < 0.05) return room > 3 ? "<.05" : "~0";
  for (const int decimals : {2, 1, 0}) {
    const double most = decimals == 2 ? 9.995 : decimals == 1 ? 99.95 : 1e300;
    std::string text = fmt::format("{:.{}f}", scaled, decimals);
    if (scaled < most && fits(text)) return text;
  }
  const auto exponent = static_cast<int>(std::floor(std::log10(scaled)));
  return fmt::format("{:.0f}e{}", std::floor(scaled / std::pow(10.0, exponent)), exponent);
}

}  // namespace heddle::linktest
