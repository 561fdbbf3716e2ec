// palette.cpp - the ramp and the escape sequences.
#include "linktest/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::linktest {
namespace {

constexpr std::array<color, 7> stops{{{48, 16, 92},
                                      {56, 66, 140},
                                      {38, 112, 146},
                                      {30, 156, 138},
                                      {96, 200, 98},
                                      {190, 222, 54},
                                      {254, 236, 80}}};

std::uint8_t between(std::uint8_t a, std::uint8_t b, double part) noexcept {
  return static_cast<std::uint8_t>(std::lround(a + (b - a) * part));
}

int squared_distance(color a, color b) noexcept {
  const int dr = a.r - b.r, dg = a.g - b.g, db = a.b - b.b;
  return dr * dr + dg * dg + db * db;
}

std::string sequence(color c, color_depth depth, int first) {
  if (depth == color_depth::none) return {};
  if (depth == color_depth::indexed) return fmt::format("\033[{};5;{}m", first, nearest_index(c));
  return fmt::format("\033[{};2;{};{};{}m", first, c.r, c.g, c.b);
}

}  // namespace

color ramp(double badness) noexcept {
  const double at = std::clamp(badness, 0.0, 1.0) * (stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const double part = at - static_cast<double>(i);
  const color a = stops[i], b = stops[i + 1];
  return {between(a.r, b.r, part), between(a.g, b.g, part), between(a.b, b.b, part)};
}

color readable_on(color c) noexcept {
  const double lightness = 0.299 * c.r + 0.587 * c.g + 0.114 * c.b;
  return lightness > 140 ? color{0, 0, 0} : color{255, 255, 255};
}

int nearest_index(color c) noexcept {
  constexpr std::array<std::uint8_t, 6> levels{0, 95, 135, 175, 215, 255};
  const auto level = [&](int value) {
    return static_cast<int>(std::min_element(levels.begin(), levels.end(),
                                             [value](int a, int b) {
                                               return std::abs(a - value) < std::abs(b - value);
                                             }) -
                            levels.begin());
  };
  const int r = level(c.r), g = level(c.g), b = level(c.b);
  const auto of = [&](int i) { return levels[static_cast<std::size_t>(i)]; };
  const color in_cube{of(r), of(g), of(b)};
  const int grey = std::clamp(((c.r + c.g + c.b) / 3 - 3) / 10, 0, 23);
  const auto value = static_cast<std::uint8_t>(8 + 10 * grey);
  const bool grey_wins = squared_distance(c, {value, value, value}) < squared_distance(c, in_cube);
  return grey_wins ? 232 + grey : 16 + 36 * r + 6 * g + b;
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

}  // namespace heddle::linktest
