// SPDX-License-Identifier: BSD-3-Clause
// palette.h - which colour and which few digits a value gets: the ramp from good to bad, the scale
// that places a value on it, and how each kind of terminal is told a colour.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle::linktest {

enum class color_depth : std::uint8_t { none, indexed, truecolor };

struct color {
  std::uint8_t r, g, b;
  std::uint8_t index;  ///< for terminals that know 256 colours
  friend bool operator==(const color&, const color&) = default;
};

/// The ramp at `badness` 0 (good, dark) to 1 (bad, bright). Its lightness rises steadily, so it
/// reads the same for colour-blind people and on paper; it has no red, which means failed, and no
/// grey, which means not measured, in either depth.
[[nodiscard]] color ramp(double badness) noexcept;
inline constexpr color failed_color{225, 30, 45, 160};
inline constexpr color unknown_color{70, 70, 74, 238};

/// Black or white, whichever reads better on `background`.
[[nodiscard]] color readable_on(color background) noexcept;

/// Escape sequences; empty for depth none.
[[nodiscard]] std::string foreground(color c, color_depth depth);
[[nodiscard]] std::string background(color c, color_depth depth);
[[nodiscard]] std::string plain(color_depth depth);

/// Maps the values of one matrix to a badness from 0 to 1, on a logarithmic scale that spans them.
/// A span narrower than a quarter is widened, so that mere noise does not look like a fault.
class color_scale {
 public:
  /// `is_time`: seconds, large is bad; else bytes per second, small is bad.
  color_scale(std::span<const double> values, bool is_time);

  [[nodiscard]] double badness(double value) const noexcept;
  [[nodiscard]] double good_end() const noexcept { return is_time_ ? low_ : high_; }
  [[nodiscard]] double bad_end() const noexcept { return is_time_ ? high_ : low_; }
  [[nodiscard]] bool empty() const noexcept { return !(low_ > 0); }

  /// "us", "GB/s" ...: fits the matrix's median, and all numbers are in it.
  [[nodiscard]] std::string_view unit() const noexcept { return unit_; }
  /// As many digits as fit into `room` >= 3 characters, three at most where that loses nothing.
  [[nodiscard]] std::string number(double value, int room) const;

 private:
  bool is_time_;
  double low_, high_;
  double unit_size_ = 1;
  std::string_view unit_;
};

}  // namespace heddle::linktest
