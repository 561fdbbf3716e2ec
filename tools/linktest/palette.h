// palette.h - colours on a terminal: the ramp from good to bad, and how each depth writes them.
#pragma once
#include <cstdint>
#include <string>

namespace heddle::linktest {

enum class color_depth : std::uint8_t { none, indexed, truecolor };

struct color {
  std::uint8_t r, g, b;
  friend bool operator==(const color&, const color&) = default;
};

/// The ramp at `badness` 0 (good, dark) to 1 (bad, bright). Its lightness rises steadily, so it
/// reads the same for colour-blind people and on paper; it has no red, which means failed.
[[nodiscard]] color ramp(double badness) noexcept;
inline constexpr color failed_color{225, 30, 45};
inline constexpr color unknown_color{70, 70, 74};

/// Black or white, whichever reads better on `background`.
[[nodiscard]] color readable_on(color background) noexcept;
/// The nearest of the 256 indexed colours, from the 6x6x6 cube or the greys.
[[nodiscard]] int nearest_index(color c) noexcept;

/// Escape sequences; empty for depth none.
[[nodiscard]] std::string foreground(color c, color_depth depth);
[[nodiscard]] std::string background(color c, color_depth depth);
[[nodiscard]] std::string plain(color_depth depth);

}  // namespace heddle::linktest
