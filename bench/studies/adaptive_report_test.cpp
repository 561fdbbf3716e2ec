// SPDX-License-Identifier: BSD-3-Clause
// adaptive_report_test.cpp - progress modes as contenders, with made-up rounds.
#include "studies/adaptive_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

constexpr adaptive_work work{.bytes = 4096, .compute_us = 20, .who = computing::sender};

case_result rounds(std::vector<double> inline_us, std::vector<double> offload_us) {
  case_result c = adaptive_case(work, "idle", 2);
  c.backend = "tcp";
  c.contenders[0].figures = std::move(inline_us);
  c.contenders[1].figures = std::move(offload_us);
  c.contenders[2].figures = {30, 30, 33};
  c.cache_line_ns = {40, 41, 160};
  compare_with_best(c, work);
  return c;
}

std::vector<std::string> names_of(const std::vector<record>& records) {
  std::vector<std::string> names;
  for (const record& r : records) names.push_back(r.op + ' ' + r.metric);
  return names;
}

TEST(AdaptiveReport, HasARecordPerModeThatTellsTheComputing) {
  EXPECT_THAT(names_of(records_of(rounds({20, 20, 20}, {50, 50, 50}))),
              testing::ElementsAre("inline total_20us", "idle total_20us", "adaptive total_20us",
                                   "adaptive ratio_20us", "cache-line one-way"));
}

TEST(AdaptiveReport, ComparesAdaptiveWithTheBetterOfTheOthers) {
  const auto ratio = [](const case_result& c) { return records_of(c)[3].median; };
  EXPECT_DOUBLE_EQ(ratio(rounds({20, 20, 20}, {50, 50, 50})), 1.5);
  EXPECT_DOUBLE_EQ(ratio(rounds({90, 90, 90}, {60, 60, 60})), 0.5);
}

TEST(AdaptiveReport, OffloadsToExecutorsOnlyWhereEachHasACore) {
  EXPECT_EQ(offload_mode(2, 2), "idle");
  EXPECT_EQ(offload_mode(3, 2), "idle");
  EXPECT_EQ(offload_mode(4, 2), "dedicated");
}

TEST(AdaptiveReport, NamesWhomItComparedWith) {
  EXPECT_THAT(summary_table(rounds({90, 90, 90}, {60, 60, 60})),
              testing::HasSubstr("adaptive / idle"));
  EXPECT_EQ(adaptive_title(work, "tcp"),
            "adaptive tag 4096 B over tcp, computing 20 us (sender): total in us");
}

}  // namespace
}  // namespace heddle::bench
