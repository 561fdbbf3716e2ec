// overlap_report_test.cpp - tables and records of made-up rounds.
#include "bench/overlap_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Half of a transfer of 100 us hides behind 100 us of computing.
constexpr side_round half{{1e-6, 0, 99e-6, 100e-6}, {1e-6, 100e-6, 49e-6, 150e-6}};
/// Nothing of it does.
constexpr side_round none{{1e-6, 0, 99e-6, 100e-6}, {1e-6, 100e-6, 99e-6, 200e-6}};

overlap_case example() {
  return {.who = computing::receiver,
          .compute_us = 100,
          .bytes = 4096,
          .backend = "tcp",
          .libraries = {{.library = "heddle", .sender = {none, none}, .receiver = {half, half}},
                        {.library = "mpich", .sender = {none}, .receiver = {none}}}};
}

const record& find(const std::vector<record>& records, const std::string& library,
                   const std::string& metric) {
  for (const record& r : records) {
    if (r.library == library && r.metric == metric) return r;
  }
  throw std::runtime_error("there is no " + metric + " of " + library);
}

TEST(OverlapReport, HasTheRatioAndItsTimesForTheSideThatComputes) {
  const std::vector<record> records = overlap_records(example());
  EXPECT_NEAR(find(records, "heddle", "overlap_ratio").median, 0.5, 1e-9);
  EXPECT_NEAR(find(records, "heddle", "alone").median, 100, 1e-9);
  EXPECT_NEAR(find(records, "heddle", "isend").median, 1, 1e-9);
  EXPECT_NEAR(find(records, "heddle", "compute").median, 100, 1e-9);
  EXPECT_NEAR(find(records, "heddle", "wait").median, 49, 1e-9);
  EXPECT_NEAR(find(records, "mpich", "overlap_ratio").median, 0, 1e-9);
  for (const record& r : records) EXPECT_EQ(r.op, "receiver");
}

TEST(OverlapReport, TellsTheRanksOfOurJobOnly) {
  overlap_case c = example();
  c.ranks = 16;
  const std::vector<record> records = overlap_records(c);
  EXPECT_EQ(find(records, "heddle", "alone").ranks, 16);
  EXPECT_EQ(find(records, "mpich", "alone").ranks, 2);
}

TEST(OverlapReport, ComparesTotalTimes) {
  EXPECT_NEAR(find(overlap_records(example()), "heddle/mpich", "ratio").median, 0.75, 1e-9);
}

TEST(OverlapReport, ShowsBothSidesWhenBothCompute) {
  overlap_case c = example();
  EXPECT_THAT(overlap_table(c), Not(HasSubstr("sender")));
  c.who = computing::both;
  EXPECT_THAT(overlap_table(c), HasSubstr("sender"));
}

TEST(OverlapReport, NamesARivalThatFailedAndHasNoRecordOfIt) {
  overlap_case c = example();
  c.libraries[1] = {.library = "mpich", .failure = "mpich took longer than 31 s and was killed"};
  EXPECT_THAT(overlap_table(c), HasSubstr("mpich: left out from round 1 on: mpich took longer"));
  for (const record& r : overlap_records(c)) EXPECT_EQ(r.library, "heddle");
}

}  // namespace
}  // namespace heddle::bench
