// SPDX-License-Identifier: BSD-3-Clause
// progress_test.cpp - the estimate, the bar's length and the bounded number of lines; and what a
// terminal's environment means.
#include "linktest/draw/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "linktest/draw/terminal.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

progress at_unit(std::uint64_t done, std::uint64_t all) {
  return {done, all, 3, 7, 1, 1};
}

TEST(Progress, EstimatesTheRestFromTheUnitsDone) {
  EXPECT_THAT(bar_line(at_unit(25, 100), 10, 80), HasSubstr("30 s left"));
  EXPECT_THAT(bar_line(at_unit(25, 100), 10, 80), HasSubstr("25 %"));
  EXPECT_THAT(bar_line(at_unit(25, 100), 10, 80), HasSubstr("step 3/7"));
}

TEST(Progress, EndsWithTheTimeThatIsGivenWhereAllWouldTakeLonger) {
  EXPECT_THAT(bar_line(at_unit(1, 1000), 30, 80, 90), HasSubstr("1 min 0 s left"));
  EXPECT_THAT(bar_line(at_unit(1, 1000), 30, 80, 90), HasSubstr("33 %"));
  EXPECT_THAT(bar_line(at_unit(50, 100), 10, 80, 90), HasSubstr("10 s left"));
  EXPECT_THAT(bar_line(at_unit(50, 100), 10, 80, 90), HasSubstr("50 %"));
  EXPECT_THAT(bar_line(at_unit(1, 1000), 95, 80, 90), HasSubstr("100 %"));
  EXPECT_THAT(bar_line(at_unit(1, 1000), 95, 80, 90), HasSubstr("0.0 s left"));
}

TEST(Progress, FillsTheBarInProportionAndFitsTheWidth) {
  const std::string half = bar_line(at_unit(50, 100), 1, 80);
  EXPECT_EQ(std::count(half.begin(), half.end(), '#'),
            std::count(half.begin(), half.end(), '.') - 1)
      << "the time has a point too";
  for (const int width : {10, 20, 40, 60, 200})
    EXPECT_LT(static_cast<int>(bar_line(at_unit(99, 100), 1e5, width).size()), width);
}

TEST(Progress, RedrawsABarAtMostTenTimesASecondAndErasesIt) {
  std::vector<std::string> out;
  double now = 0;
  progress_display shown(
      progress_choice::bar, 80, [&](std::string_view text) { out.emplace_back(text); },
      [&] { return now; });
  for (std::uint64_t i = 1; i <= 1000; ++i, now += 0.001) shown.update(at_unit(i, 1000));
  EXPECT_LE(out.size(), 12u);
  EXPECT_GE(out.size(), 9u);
  EXPECT_THAT(out.back(), HasSubstr("100 %"));
  shown.finish();
  EXPECT_EQ(out.back(), "\r\033[K");
}

std::vector<std::string> lines_of_run(std::uint64_t units, double seconds_per_unit,
                                      double budget_s = 0) {
  std::vector<std::string> out;
  double now = 100;
  progress_display shown(
      progress_choice::lines, 80, [&](std::string_view text) { out.emplace_back(text); },
      [&] { return now; }, budget_s);
  for (std::uint64_t i = 1; i <= units && (budget_s == 0 || now < 100 + budget_s); ++i) {
    now += seconds_per_unit;
    shown.update(at_unit(i, units));
  }
  shown.finish();
  return out;
}

TEST(Progress, WritesAtMostTenLinesForAnyNumberOfUnits) {
  for (const std::uint64_t units : {3u, 10u, 12345u}) {
    const auto lines = lines_of_run(units, 10);
    EXPECT_EQ(lines.size(), std::min<std::size_t>(units, 10));
    EXPECT_THAT(lines.back(), StartsWith("linktest: 100 %"));
  }
}

TEST(Progress, WritesALineAtEachTenthOfTheTimeThatIsGiven) {
  const auto lines = lines_of_run(1'000'000, 1, 100);
  EXPECT_EQ(lines.size(), 10u);
  EXPECT_THAT(lines.front(), HasSubstr("elapsed 10 s, 1 min 30 s left"));
}

TEST(Progress, WritesNoLinesAboutAShortRunAndFewAboutAQuickOne) {
  EXPECT_TRUE(lines_of_run(1000, 0.0019).empty());
  EXPECT_EQ(lines_of_run(1000, 0.005).size(), 2u);  // 5 seconds
}

TEST(Progress, WritesNothingWhenNotWanted) {
  int calls = 0;
  progress_display shown(
      progress_choice::none, 80, [&](std::string_view) { ++calls; }, [] { return 0.0; });
  shown.update(at_unit(1, 1));
  shown.finish();
  EXPECT_EQ(calls, 0);
}

TEST(Progress, WritesDurationsForPeople) {
  EXPECT_EQ(format_duration(0.44), "0.4 s");
  EXPECT_EQ(format_duration(12.2), "12 s");
  EXPECT_EQ(format_duration(200), "3 min 20 s");
  EXPECT_EQ(format_duration(7500), "2 h 5 min");
}

environment table(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

TEST(Terminal, ColoursOnlyATerminalUnlessTold) {
  const auto get = table({{"TERM", "xterm-256color"}});
  EXPECT_EQ(choose_colors(color_choice::automatic, true, get), color_depth::indexed);
  EXPECT_EQ(choose_colors(color_choice::automatic, false, get), color_depth::none);
  EXPECT_EQ(choose_colors(color_choice::always, false, get), color_depth::indexed);
  EXPECT_EQ(choose_colors(color_choice::never, true, get), color_depth::none);
}

TEST(Terminal, HonoursNoColorDumbTerminalsAndTruecolorPromises) {
  EXPECT_EQ(choose_colors(color_choice::automatic, true, table({{"NO_COLOR", "1"}})),
            color_depth::none);
  EXPECT_EQ(choose_colors(color_choice::automatic, true, table({{"TERM", "dumb"}})),
            color_depth::none);
  EXPECT_EQ(choose_colors(color_choice::automatic, true, table({{"COLORTERM", "truecolor"}})),
            color_depth::truecolor);
}

TEST(Terminal, TakesTheWidthFromTheEnvironmentWithoutATerminal) {
  EXPECT_EQ(columns_of(-1, table({{"COLUMNS", "132"}})), 132);
  EXPECT_EQ(columns_of(-1, table({{"COLUMNS", "3"}})), 40);
  EXPECT_EQ(columns_of(-1, table({})), 80);
}

}  // namespace
}  // namespace heddle::linktest
