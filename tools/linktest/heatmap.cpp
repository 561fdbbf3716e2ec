// heatmap.cpp - fields with numbers for few ranks, half blocks or letters for many.
#include "linktest/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "linktest/color_scale.h"

namespace heddle::linktest {
namespace {

constexpr int field_width = 7;
constexpr int most_fields = 16;      // more ranks than this are drawn without numbers
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
        margin_(static_cast<int>(fmt::formatted_size("{}", std::max(in.ranks - 1, 10))) + 2) {}

  std::string draw() {
    out_ += fmt::format("{}\n", in_.title);
    out_ += fmt::format("{:{}}across: peer; down: initiator\n", "", margin_);
    if (in_.ranks <= most_fields && in_.ranks * field_width + margin_ <= style_.width)
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
    for (int r = row; r < std::min(row + group_, in_.ranks); ++r) {
      for (int p = column; p < std::min(column + group_, in_.ranks); ++p) {
        const auto at = static_cast<std::size_t>(r) * static_cast<std::size_t>(in_.ranks) +
                        static_cast<std::size_t>(p);
        const auto state = static_cast<pair_state>(in_.states[at]);
        out.failed |= state == pair_state::lost || state == pair_state::corrupted;
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
    for (int p = 0; p < in_.ranks; ++p) out_ += fmt::format("{:^{}}", p, field_width);
    out_ += '\n';
    const bool tall = colored() && in_.ranks <= most_tall_fields;
    for (int r = 0; r < in_.ranks; ++r) {
      if (tall) field_line(r, false);
      field_line(r, true);
      if (tall) field_line(r, false);
    }
  }

  void field_line(int r, bool with_text) {
    out_ += with_text ? fmt::format("{:>{}}  ", r, margin_ - 2) : std::string(pixel_margin(), ' ');
    for (int p = 0; p < in_.ranks; ++p) {
      const cell c = block(r, p);
      const color back = color_of(c);
      out_ += background(back, style_.depth) + foreground(readable_on(back), style_.depth);
      out_ += fmt::format("{:^{}}", with_text ? field_text(c, r == p) : "", field_width);
    }
    out_ += plain(style_.depth) + '\n';
  }

  [[nodiscard]] std::string field_text(const cell& c, bool diagonal) const {
    if (diagonal) return "-";
    if (c.failed) return "failed";
    return std::isnan(c.value) ? "?" : scale_.number(c.value);
  }

  // --- many ranks ---
  [[nodiscard]] std::size_t pixel_margin() const noexcept {
    return static_cast<std::size_t>(margin_);
  }

  void draw_pixels() {
    constexpr int comfortable = 64;  // columns to grow to when there are few ranks
    const int room = std::max(style_.width - margin_, 8);
    group_ = (in_.ranks + room - 1) / room;
    cells_ = (in_.ranks + group_ - 1) / group_;
    zoom_ = colored() ? std::max(1, std::min(room, comfortable) / cells_) : 1;
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
      axis += fmt::format("{}", c * group_);
    }
    out_ += fmt::format("{:{}}{}\n", "", margin_, axis);
  }

  void draw_row_label(int line, int lines) {
    const int pixel = colored() ? 2 * line : line;
    const bool starts_cell = pixel % zoom_ == 0 && (lines <= most_fields || line % 4 == 0);
    out_ += starts_cell ? fmt::format("{:>{}}  ", pixel / zoom_ * group_, margin_ - 2)
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
  void draw_legend() {
    out_ += fmt::format("{:{}}", "", margin_);
    if (scale_.empty())
      out_ += "nothing was measured";
    else if (colored() || cells_ > 0)
      out_ += fmt::format("{} {} {} {} {}", scale_.number(scale_.good_end()), scale_.unit(),
                          colored() ? ramp_bar() : std::string(letters),
                          scale_.number(scale_.bad_end()), scale_.unit());
    else
      out_ += fmt::format("all in {}", scale_.unit());
    if (colored())
      out_ += sample(failed_color) + " failed" + sample(unknown_color) + " not measured";
    else if (cells_ > 0)
      out_ += "   X failed";
    if (group_ > 1)
      out_ += fmt::format("\n{:{}}each point shows the worst of {} x {} pairs", "", margin_, group_,
                          group_);
    out_ += '\n';
  }

  [[nodiscard]] std::string ramp_bar() const {
    constexpr int columns = 24;
    std::string bar;
    for (int i = 0; i < columns; ++i)
      bar += background(ramp(i / (columns - 1.0)), style_.depth) + ' ';
    return bar + plain(style_.depth);
  }

  [[nodiscard]] std::string sample(color c) const {
    return "   " + background(c, style_.depth) + "  " + plain(style_.depth);
  }

  const heatmap_input& in_;
  const heatmap_style& style_;
  color_scale scale_;
  int margin_;
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
