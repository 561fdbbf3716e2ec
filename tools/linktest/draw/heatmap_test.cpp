// SPDX-License-Identifier: BSD-3-Clause
// heatmap_test.cpp - numbers, colours, aggregation and marks of failed pairs, read from the output.
#include "linktest/draw/heatmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

#include "linktest/draw/layout.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct matrix {
  explicit matrix(int n)
      : ranks(n),
        values(static_cast<std::size_t>(n * n)),
        states(values.size(), static_cast<std::uint8_t>(pair_state::measured)) {
    for (int r = 0; r < n; ++r)
      for (int p = 0; p < n; ++p) set(r, p, r == p ? nan : 1e-6);
  }
  void set(int r, int p, double v) { values[static_cast<std::size_t>(r * ranks + p)] = v; }
  void mark(int r, int p, pair_state s) {
    states[static_cast<std::size_t>(r * ranks + p)] = static_cast<std::uint8_t>(s);
  }
  [[nodiscard]] heatmap_input input(bool is_time = true) const {
    return {ranks, values, states, is_time, "title", "across: peer; down: initiator"};
  }
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  int ranks;
  std::vector<double> values;
  std::vector<std::uint8_t> states;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
    ++found;
  return found;
}

TEST(ColorScale, MapsTimesUpwardsAndBandwidthsDownwardsOnALogarithmicScale) {
  const std::vector<double> values{1e-6, 1e-5, 1e-4};
  const color_scale time(values, true), rate(values, false);
  EXPECT_DOUBLE_EQ(time.badness(1e-6), 0);
  EXPECT_DOUBLE_EQ(time.badness(1e-5), 0.5);
  EXPECT_DOUBLE_EQ(time.badness(1e-4), 1);
  EXPECT_DOUBLE_EQ(rate.badness(1e-6), 1);
  EXPECT_DOUBLE_EQ(rate.badness(1e-4), 0);
}

TEST(ColorScale, DoesNotBlowUpNoise) {
  const color_scale scale(std::vector<double>{100e-9, 101e-9}, true);
  EXPECT_LT(scale.badness(101e-9), 0.1);
}

TEST(ColorScale, WritesAllNumbersInTheUnitOfTheMedian) {
  const color_scale scale(std::vector<double>{2e-6, 3e-6, 4e-3}, true);
  EXPECT_EQ(scale.unit(), "us");
  EXPECT_EQ(scale.number(2e-6, 6), "2.00");
  EXPECT_EQ(scale.number(4e-3, 6), "4000");
  EXPECT_EQ(scale.number(250e-9, 6), "0.25");
  EXPECT_EQ(color_scale(std::vector<double>{3e9}, false).unit(), "GB/s");
}

TEST(ColorScale, WritesWhatFits) {
  const color_scale scale(std::vector<double>{2e-6}, true);
  EXPECT_EQ(scale.number(2.34e-6, 3), "2.3");
  EXPECT_EQ(scale.number(23.4e-6, 3), "23");
  EXPECT_EQ(scale.number(4321e-6, 3), "4e3");
  EXPECT_EQ(scale.number(1e-9, 3), "~0");
  for (const double v : {0.06, 0.99, 9.96, 99.96, 999.6, 12345.0, 9.9e9})
    for (const int room : {3, 4, 6})
      EXPECT_LE(scale.number(v * 1e-6, room).size(), static_cast<std::size_t>(room)) << v;
}

TEST(Heatmap, WritesNumbersAxesAndUnitForFewRanksWithoutAnyEscape) {
  matrix m(4);
  m.set(2, 1, 12.34e-6);
  m.mark(3, 0, pair_state::lost);
  const std::string text = draw_heatmap(m.input(), {color_depth::none, 80});
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  const auto lines = lines_of(text);
  ASSERT_EQ(lines.size(), 8u);  // title, axis name, axis, four ranks, legend
  EXPECT_EQ(lines[0], "title");
  EXPECT_THAT(lines[2], HasSubstr("0      1      2      3"));
  EXPECT_THAT(lines[5], HasSubstr("12.3"));
  EXPECT_THAT(lines[6], HasSubstr("failed"));
  EXPECT_THAT(lines[7], HasSubstr("us"));
}

TEST(Heatmap, ColoursEveryFieldAndEndsEveryLinePlain) {
  const matrix m(4);
  const std::string text = draw_heatmap(m.input(), {color_depth::truecolor, 80});
  for (const std::string& line : lines_of(text)) {
    if (line.find('\033') == std::string::npos) continue;
    const std::size_t reset = line.rfind("\033[0m");
    ASSERT_NE(reset, std::string::npos) << line;
    EXPECT_EQ(line.find('\033', reset + 1), std::string::npos) << line;
  }
  EXPECT_EQ(lines_of(text).size(), 3u + 4 * 3 + 2);  // fields of few ranks are three lines high
}

TEST(Heatmap, MarksFailedPairsInTheirOwnColour) {
  matrix m(40);
  const std::string red = foreground(failed_color, color_depth::truecolor);
  EXPECT_EQ(count(draw_heatmap(m.input(), {color_depth::truecolor, 100}), red), 0u);
  m.mark(4, 7, pair_state::corrupted);
  EXPECT_EQ(count(draw_heatmap(m.input(), {color_depth::truecolor, 100}), red), 1u);
}

TEST(Heatmap, PutsTwoRowsOfPairsIntoOneLineOfHalfBlocks) {
  const matrix m(60);
  const auto lines = lines_of(draw_heatmap(m.input(), {color_depth::indexed, 80}));
  EXPECT_EQ(lines.size(), 3u + 30 + 1);
  EXPECT_EQ(count(lines[10], "\u2580"), 60u);
}

TEST(Heatmap, AggregatesToTheTerminalsWidthAndKeepsTheWorstPairVisible) {
  matrix m(1000);
  m.set(501, 333, 1e-3);
  const std::string text = draw_heatmap(m.input(), {color_depth::truecolor, 80});
  const auto lines = lines_of(text);
  for (const std::string& line : lines) EXPECT_LE(count(line, "\u2580"), 80u);
  EXPECT_THAT(text, HasSubstr("worst of"));
  // The bright end of the ramp as a pixel: upper halves are foreground, lower ones background.
  std::size_t bright = 0;
  for (std::size_t i = 3; i + 2 < lines.size(); ++i)
    bright += count(lines[i], foreground(ramp(1), color_depth::truecolor)) +
              count(lines[i], background(ramp(1), color_depth::truecolor));
  EXPECT_EQ(bright, 1u);
}

TEST(Heatmap, UsesLettersForManyRanksWithoutColour) {
  matrix m(50);
  m.set(10, 20, 1e-3);
  m.mark(11, 20, pair_state::lost);
  const auto lines = lines_of(draw_heatmap(m.input(), {color_depth::none, 80}));
  ASSERT_EQ(lines.size(), 3u + 50 + 1);
  EXPECT_EQ(lines[3 + 10].substr(4)[20], '@');
  EXPECT_EQ(lines[3 + 11].substr(4)[20], 'X');
  EXPECT_EQ(lines[3 + 12].substr(4)[12], ' ');
}

TEST(Heatmap, SaysSoWhenNothingWasMeasured) {
  matrix m(3);
  std::fill(m.values.begin(), m.values.end(), matrix::nan);
  EXPECT_THAT(draw_heatmap(m.input(), {color_depth::none, 80}), HasSubstr("nothing was measured"));
}

TEST(Heatmap, ShowsTheValuesOfSixteenRanksOnAUsualTerminal) {
  matrix m(16);
  m.set(3, 9, 34e-6);
  for (const color_depth depth : {color_depth::none, color_depth::indexed})
    EXPECT_THAT(draw_heatmap(m.input(), {depth, 80}), HasSubstr(" 34 "));
}

TEST(Heatmap, StaysWithinTheWidthWhateverTheSize) {
  for (const int width : {40, 80, 200}) {
    for (const int ranks : {2, 5, 9, 16, 33, 150}) {
      matrix m(ranks);
      heatmap_input in = m.input();
      in.title = "Time per message, 128 KiB, a title that is longer than forty columns are wide";
      for (const std::string& line : lines_of(draw_heatmap(in, {color_depth::none, width})))
        EXPECT_LE(line.size(), static_cast<std::size_t>(width)) << ranks << ": " << line;
    }
  }
}

TEST(Layout, BreaksBetweenWordsOnly) {
  EXPECT_EQ(wrapped("one two three four", 9, 2), "one two\n  three\n  four\n");
  EXPECT_EQ(wrapped("unbreakable word", 4, 0), "unbreakable\nword\n");
}

TEST(Layout, PutsPicturesBesideEachOtherWhereTheyFit) {
  EXPECT_EQ(side_by_side({"ab\nc\n", "x\ny\nz\n"}, 7), "ab    x\nc     y\n      z\n");
  EXPECT_EQ(side_by_side({"ab\n", "x\n"}, 6), "ab\n\nx\n");
  const std::string red = foreground(failed_color, color_depth::indexed) + "\u2580\033[0m";
  EXPECT_EQ(side_by_side({red + "\n", "x\n"}, 6), red + "    x\n") << "escapes take no columns";
}

TEST(Palette, NeverShowsAGoodLinkAsOneThatWasNotMeasured) {
  constexpr int first_grey = 232;
  for (int i = 0; i <= 100; ++i) EXPECT_LT(ramp(i / 100.0).index, first_grey) << i;
  EXPECT_GE(unknown_color.index, first_grey);
}

TEST(Palette, GetsLighterFromGoodToBad) {
  const auto lightness = [](color c) { return 0.299 * c.r + 0.587 * c.g + 0.114 * c.b; };
  for (int i = 0; i < 100; ++i)
    EXPECT_LT(lightness(ramp(i / 100.0)), lightness(ramp((i + 1) / 100.0)) + 0.5);
  EXPECT_EQ(readable_on(ramp(0)), (color{255, 255, 255, 231}));
  EXPECT_EQ(readable_on(ramp(1)), (color{0, 0, 0, 16}));
}

}  // namespace
}  // namespace heddle::linktest
