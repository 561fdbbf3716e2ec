// heatmap.h - a whole communication matrix as a picture in the terminal.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "linktest/palette.h"
#include "linktest/results.h"

namespace heddle::linktest {

/// What to draw. The spans hold ranks x ranks entries, row by row.
struct heatmap_input {
  int ranks = 0;
  std::span<const double> values;        ///< NaN: not measured
  std::span<const std::uint8_t> states;  ///< pair_state of each entry
  bool is_time = true;                   ///< seconds, large is bad; else bytes/s, small is bad
  std::string_view title;
};

struct heatmap_style {
  color_depth depth = color_depth::none;
  int width = 80;  ///< columns that may be used
};

/// Lines of text, ready to print. Few ranks: a field per pair with its number. More: half a
/// character per pair, and when even that is too wide, one per block of pairs, showing its worst.
/// Without colours: numbers, or letters of a ramp. The scale is logarithmic.
[[nodiscard]] std::string draw_heatmap(const heatmap_input& in, const heatmap_style& style);

}  // namespace heddle::linktest
