// SPDX-License-Identifier: BSD-3-Clause
// heatmap.cpp - fields with numbers for few ranks, half blocks or letters for many.
#include "linktest/draw/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "linktest/draw/layout.h"

namespace heddle::linktest {
namespace {

constexpr int widest_field = 7, narrowest_field = 4;  // columns, with the space between two
constexpr int most_fields = 32;      // more rows than this are drawn without numbers
constexpr int most_tall_fields = 8;  // up to this many, a field is three lines high
constexpr std::string_view letters = ".:-=+*%@";

/// What a pixel or field shows: a block of pairs, at least one.
struct cell {
  double value = std::numeric_limits<double>::quiet_NaN();  // the worst one in it
  bool failed = false;
};

class picture {
 public:
  picture(const heatmap_input& in, const heatmap_style& style)
      : in_(in),
        style_(style),
        scale_(in.values, in.is_time),
        margin_(static_cast<int>(fmt::formatted_size("{}", std::max((in.side - 1) * in.each, 10))) +
                2) {}

  std::string draw() {
    field_width_ = std::min(widest_field, (style_.width - margin_) / std::max(in_.side, 1));
    out_ += wrapped(in_.title, style_.width, 2);
    out_ += fmt::format("{:{}}{}\n", "", margin_, in_.axes);
    if (in_.side <= most_fields && field_width_ >= narrowest_field)
      draw_fields();
    else
      draw_pixels();
    draw_legend();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool colored() const noexcept { return style_.depth != color_depth::none; }

  [[nodiscard]] bool worse(double a, double b) const noexcept {
    return in_.is_time ? a > b : a < b;
  }

  [[nodiscard]] cell block(int row, int column) const {
    cell out;
    for (int r = row; r < std::min(row + group_, in_.side); ++r) {
      for (int p = column; p < std::min(column + group_, in_.side); ++p) {
        const auto at = static_cast<std::size_t>(r) * static_cast<std::size_t>(in_.side) +
                        static_cast<std::size_t>(p);
        if (!in_.states.empty()) {
          const auto state = static_cast<pair_state>(in_.states[at]);
          out.failed |= state == pair_state::lost || state == pair_state::corrupted;
        }
        const double v = in_.values[at];
        if (!std::isnan(v) && (std::isnan(out.value) || worse(v, out.value))) out.value = v;
      }
    }
    return out;
  }

  [[nodiscard]] color color_of(const cell& c) const noexcept {
    if (c.failed) return failed_color;
    return std::isnan(c.value) ? unknown_color : ramp(scale_.badness(c.value));
  }

  // --- few ranks ---
  void draw_fields() {
    out_ += fmt::format("{:{}}", "", margin_);
    for (int p = 0; p < in_.side; ++p) out_ += fmt::format("{:>{}} ", p, field_width_ - 1);
    out_ += '\n';
    const bool tall = colored() && in_.side <= most_tall_fields;
    for (int r = 0; r < in_.side; ++r) {
      if (tall) field_line(r, false);
      field_line(r, true);
      if (tall) field_line(r, false);
    }
  }

  void field_line(int r, bool with_text) {
    out_ += with_text ? fmt::format("{:>{}}  ", r, margin_ - 2) : std::string(pixel_margin(), ' ');
    for (int p = 0; p < in_.side; ++p) {
      const cell c = block(r, p);
      const color back = color_of(c);
      out_ += background(back, style_.depth) + foreground(readable_on(back), style_.depth);
      out_ += fmt::format("{:>{}} ", with_text ? field_text(c, r == p) : "", field_width_ - 1);
    }
    out_ += plain(style_.depth) + '\n';
  }

  [[nodiscard]] std::string field_text(const cell& c, bool diagonal) const {
    if (diagonal) return "-";
    if (c.failed) return field_width_ > 6 ? "failed" : "X";
    return std::isnan(c.value) ? "?" : scale_.number(c.value, field_width_ - 1);
  }

  // --- many ranks ---
  [[nodiscard]] std::size_t pixel_margin() const noexcept {
    return static_cast<std::size_t>(margin_);
  }

  void draw_pixels() {
    constexpr int most_zoom = 4;
    const int room = std::max(style_.width - margin_, 8);
    group_ = (in_.side + room - 1) / room;
    cells_ = (in_.side + group_ - 1) / group_;
    zoom_ = colored() ? std::clamp(room / cells_, 1, most_zoom) : 1;
    draw_column_axis();
    const int lines = colored() ? (cells_ * zoom_ + 1) / 2 : cells_;
    for (int line = 0; line < lines; ++line) {
      draw_row_label(line, lines);
      colored() ? draw_half_blocks(line) : draw_letters(line);
    }
  }

  void draw_column_axis() {
    const int label = margin_;  // room for a rank number and a space
    const int every = std::max(1, (label + zoom_ - 1) / zoom_);
    std::string axis;
    for (int c = 0; c < cells_; c += every) {
      axis.resize(static_cast<std::size_t>(c) * static_cast<std::size_t>(zoom_), ' ');
      axis += fmt::format("{}", c * group_ * in_.each);
    }
    out_ += fmt::format("{:{}}{}\n", "", margin_, axis);
  }

  void draw_row_label(int line, int lines) {
    const int pixel = colored() ? 2 * line : line;
    const bool starts_cell = pixel % zoom_ == 0 && (lines <= most_fields || line % 4 == 0);
    out_ += starts_cell ? fmt::format("{:>{}}  ", pixel / zoom_ * group_ * in_.each, margin_ - 2)
                        : std::string(pixel_margin(), ' ');
  }

  [[nodiscard]] cell cell_at(int row, int column) const {
    return block(row * group_, column * group_);
  }

  /// Two rows of pixels: the upper half of each character in its own colour, the lower behind it.
  void draw_half_blocks(int line) {
    std::string codes_now;
    for (int x = 0; x < cells_ * zoom_; ++x) {
      const int upper = 2 * line / zoom_, lower = (2 * line + 1) / zoom_;
      std::string codes = foreground(color_of(cell_at(upper, x / zoom_)), style_.depth);
      if (lower < cells_) codes += background(color_of(cell_at(lower, x / zoom_)), style_.depth);
      if (codes != codes_now) out_ += codes;
      codes_now = std::move(codes);
      out_ += "\u2580";
    }
    out_ += plain(style_.depth) + '\n';
  }

  void draw_letters(int line) {
    for (int x = 0; x < cells_; ++x) out_ += letter_of(cell_at(line, x));
    out_ += '\n';
  }

  [[nodiscard]] char letter_of(const cell& c) const {
    if (c.failed) return 'X';
    if (std::isnan(c.value)) return ' ';
    const auto last = static_cast<double>(letters.size() - 1);
    return letters[static_cast<std::size_t>(std::lround(scale_.badness(c.value) * last))];
  }

  // --- legend ---
  /// Parts that are not broken, on as many lines as they take.
  void draw_legend() {
    constexpr int enough = 38;  // two pictures of few ranks fit beside each other into 80 columns
    const int fields = cells_ > 0 ? cells_ * zoom_ : in_.side * field_width_;
    const int width = std::min(style_.width, std::max(margin_ + fields, enough));
    std::string line;
    int used = 0;
    for (const auto& [text, columns] : legend()) {
      if (used > 0 && margin_ + used + columns + 3 > width) {
        out_ += fmt::format("{:{}}{}\n", "", margin_, line);
        line.clear();
        used = 0;
      }
      line += (used > 0 ? "   " : "") + text;
      used += columns + (used > 0 ? 3 : 0);
    }
    out_ += fmt::format("{:{}}{}\n", "", margin_, line);
    if (const int worst_of = group_ * in_.each; worst_of > 1)
      out_ += wrapped(fmt::format("{:{}}each point shows the worst of {} x {} pairs", "", margin_,
                                  worst_of, worst_of),
                      style_.width, margin_);
  }

  struct legend_part {
    std::string text;
    int columns;
  };

  [[nodiscard]] std::vector<legend_part> legend() const {
    std::vector<legend_part> parts;
    const auto add = [&parts](const std::string& text, int hidden = 0) {
      parts.push_back({text, static_cast<int>(text.size()) - hidden});
    };
    if (scale_.empty()) {
      add("nothing was measured");
    } else if (colored() || cells_ > 0) {
      const std::string bar = colored() ? ramp_bar() : std::string(letters);
      const int hidden = colored() ? static_cast<int>(bar.size()) - bar_columns : 0;
      add(fmt::format("{} {} {} {} {}", scale_.number(scale_.good_end(), 6), scale_.unit(), bar,
                      scale_.number(scale_.bad_end(), 6), scale_.unit()),
          hidden);
    } else {
      add(fmt::format("all in {}", scale_.unit()));
    }
    if (colored()) {
      for (const auto& [paint, word] :
           {std::pair{failed_color, "failed"}, std::pair{unknown_color, "not measured"}}) {
        const std::string box = background(paint, style_.depth) + "  " + plain(style_.depth);
        add(fmt::format("{} {}", box, word), static_cast<int>(box.size()) - 2);
      }
    } else if (cells_ > 0) {
      add("X failed");
    }
    return parts;
  }

  [[nodiscard]] std::string ramp_bar() const {
    std::string bar;
    for (int i = 0; i < bar_columns; ++i)
      bar += background(ramp(i / (bar_columns - 1.0)), style_.depth) + ' ';
    return bar + plain(style_.depth);
  }

  const heatmap_input& in_;
  const heatmap_style& style_;
  color_scale scale_;
  static constexpr int bar_columns = 12;
  int margin_;
  int field_width_ = 0;
  int group_ = 1;  // ranks per pixel in each direction
  int cells_ = 0;  // pixels before zooming; 0: fields with numbers
  int zoom_ = 1;   // columns and half lines per pixel
  std::string out_;
};

}  // namespace

std::string draw_heatmap(const heatmap_input& in, const heatmap_style& style) {
  return picture(in, style).draw();
}

}  // namespace heddle::linktest
