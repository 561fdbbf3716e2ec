// SPDX-License-Identifier: BSD-3-Clause
// heatmap.h - a whole communication matrix as a picture in the terminal.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "linktest/draw/palette.h"
#include "linktest/results/results.h"

namespace heddle::linktest {

/// What to draw: side x side entries, row by row.
struct heatmap_input {
  int side = 0;                          ///< ranks, or hosts
  std::span<const double> values;        ///< NaN: not measured
  std::span<const std::uint8_t> states;  ///< pair_state of each entry; empty: all are fine
  bool is_time = true;                   ///< seconds, large is bad; else bytes/s, small is bad
  std::string_view title;
  std::string_view axes = "across: peer; down: initiator";
  int each = 1;  ///< an entry is the worst of so many ranks by as many
};

struct heatmap_style {
  color_depth depth = color_depth::none;
  int width = 80;  ///< columns that may be used; at least 40
};

/// Lines of text, none longer than the width. Up to 32 rows and columns that fit: a field per pair
/// with its number. More: half a character per pair, and when even that is too wide, one per block
/// of pairs, showing its worst. Without colours: numbers, or letters of a ramp. The scale is
/// logarithmic.
[[nodiscard]] std::string draw_heatmap(const heatmap_input& in, const heatmap_style& style);

}  // namespace heddle::linktest
