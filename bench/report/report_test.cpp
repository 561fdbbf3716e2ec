// SPDX-License-Identifier: BSD-3-Clause
// report_test.cpp - records and tables of made-up rounds.
#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

case_result example() {
  case_result c{.what = {.what = kind::latency, .op = operation::am},
                .backend = "shm",
                .contenders = {{.label = "heddle",
                                .library = "heddle",
                                .ranks = 4,
                                .figures = {2, 4, 3},
                                .p99 = {1, 9, 9}},
                               {.label = "ucx", .library = "ucx", .figures = {4, 6, 8}},
                               {.label = "pair", .library = "heddle", .figures = {1, 1, 1}}},
                .cache_line_ns = {60, 62, 250}};
  return c;
}

TEST(Report, HasARecordForEveryContenderAndRatioAndTheCacheLine) {
  const std::vector<record> records = records_of(example());
  std::vector<std::string> names;
  for (const record& r : records) names.push_back(r.library + ' ' + r.metric);
  EXPECT_EQ(names,
            (std::vector<std::string>{"heddle one-way", "ucx one-way", "heddle one-way",
                                      "heddle/ucx ratio", "heddle/pair ratio", "bare one-way"}));
  EXPECT_EQ(records[0].median, 3);
  EXPECT_EQ(records[0].p99, 9) << "of single operations";
  EXPECT_EQ(records[0].runs, 3);
  EXPECT_EQ(records[0].ranks, 4);
  EXPECT_EQ(records[2].ranks, 2) << "as many as were at work";
  EXPECT_DOUBLE_EQ(records[3].median, 0.5);
  EXPECT_DOUBLE_EQ(records[3].ci95_low, 0.375) << "of the rounds' ratios";
  EXPECT_NEAR(records[3].ci95_high, 0.667, 0.001);
}

TEST(Report, ShowsNoP99OfRoundsBesideThoseOfSingleOperations) {
  EXPECT_THAT(summary_table(example()), ContainsRegex("ucx +6.00 +- +4.00"));
  case_result c = example();
  c.contenders.front().p99.clear();
  EXPECT_THAT(summary_table(c), ContainsRegex("ucx +6.00 +8.00 +4.00"));
}

TEST(Report, PutsTheCacheLineBesideEachRoundAndRatiosUnderTheStatistics) {
  EXPECT_THAT(round_heading(example()), HasSubstr("cache line, ns"));
  EXPECT_THAT(round_line(example()), AllOf(HasSubstr("250.0"), HasSubstr("8.00")));
  EXPECT_THAT(summary_table(example()), HasSubstr("heddle / ucx"));
}

TEST(Report, SaysWhatIsMeasured) {
  case_result c = example();
  EXPECT_THAT(title(c), HasSubstr("latency am 8 B over shm, 4 ranks"));
  c.what.target = target_mode::computing;
  EXPECT_THAT(title(c), HasSubstr("target computing"));
  c.what = {.what = kind::bandwidth, .lanes = 1};
  for (series& s : c.contenders) s.threads = 2;
  EXPECT_THAT(title(c), HasSubstr("2 threads each, 1 lane(s), 64 in flight, plain buffers"));
  EXPECT_EQ(records_of(c).front().setup, "1 lane(s), 64 in flight, plain buffers");
  EXPECT_EQ(records_of(c).back().setup, "") << "of the cache line";
}

TEST(Report, ComparesThreadCountsWithTheFirst) {
  case_result c = example();
  c.contenders = {{.label = "T=1", .library = "heddle", .threads = 1, .figures = {2, 2, 2}},
                  {.label = "T=4", .library = "heddle", .threads = 4, .figures = {6, 6, 8}}};
  c.comparisons = usual_comparisons(c.contenders);
  EXPECT_THAT(summary_table(c), HasSubstr("T=4 / T=1"));
  const record r = records_of(c)[2];
  EXPECT_EQ(r.metric, "scaling");
  EXPECT_EQ(r.library, "heddle");
  EXPECT_EQ(r.threads, 4);
  EXPECT_DOUBLE_EQ(r.median, 3);
}

TEST(Report, GivesTheBandwidthOfAllThreadsOfAPingPong) {
  case_result c = example();
  c.what.bytes = 1000;
  c.contenders = {{.label = "T=4", .library = "heddle", .threads = 4, .figures = {2, 2, 2}}};
  c.comparisons = {};
  const std::vector<record> records = records_of(aggregate_bandwidth(c));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].metric, "bandwidth");
  EXPECT_DOUBLE_EQ(records[0].median, 2);
}

case_result with_parts() {
  case_result c = example();
  c.metrics = {
      {"total", "us", "sender"}, {"wait", "us", "sender"}, {"total", "us", "receiver", true}};
  c.contenders.resize(2);
  for (series& s : c.contenders) s.parts = {{1, 2, 3}, {4, 5, 9}};
  c.comparisons = {{0, 1, "heddle/ucx", "ratio", 2}};
  return c;
}

TEST(Report, HasARecordForEveryMetricWithItsOwnOp) {
  const std::vector<record> records = records_of(with_parts());
  EXPECT_EQ(records[0].op, "sender");
  EXPECT_EQ(records[1].metric, "wait");
  EXPECT_EQ(records[1].median, 2);
  EXPECT_EQ(records[2].op, "receiver");
  EXPECT_EQ(records[2].median, 6) << "a mean, where the metric says so";
  EXPECT_EQ(records[6].metric, "ratio");
  EXPECT_EQ(records[6].op, "receiver");
}

TEST(Report, SaysWhetherItShowsMediansOrMeansAndPutsTheMetricsOfASideIntoALine) {
  case_result c = example();
  EXPECT_THAT(summary_table(c), HasSubstr("95 % CI of median"));
  c.metrics = {{"latency_mean", "us", {}, true}};
  EXPECT_THAT(summary_table(c), AllOf(HasSubstr("95 % CI of mean"), Not(HasSubstr("median"))));
  EXPECT_THAT(summary_table(with_parts()),
              AllOf(HasSubstr("wait, us"), HasSubstr("ucx receiver"), HasSubstr("6.00 +-")));
}

TEST(Report, ComparesWhatIsOfTheSameKindOnly) {
  const std::vector<series> kinds{{.label = "mapped", .library = "heddle", .op = "get-mapped"},
                                  {.label = "unmapped", .library = "heddle", .op = "get-unmapped"},
                                  {.label = "ucx", .library = "ucx", .op = "get"}};
  const auto all = usual_comparisons(kinds);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].library, "heddle/ucx");
}

TEST(Report, GoesOnWithoutARivalThatFailed) {
  case_result c = example();
  c.contenders[1].figures.resize(1);
  c.contenders[1].failure = "ucx took longer than 30 s and was killed";
  EXPECT_THAT(round_line(c), HasSubstr("  -  "));
  EXPECT_THAT(summary_table(c), HasSubstr("ucx: left out from round 2 on: ucx took longer"));
  EXPECT_EQ(records_of(c)[1].runs, 1);
  c.contenders[1].figures.clear();
  EXPECT_THAT(summary_table(c), Not(HasSubstr("heddle / ucx")));
  for (const record& r : records_of(c)) EXPECT_THAT(r.library, Not(HasSubstr("ucx")));
}

}  // namespace
}  // namespace heddle::bench
