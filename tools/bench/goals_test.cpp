// goals_test.cpp - the rows of the table, and judging made-up records.
#include "bench/goals.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace heddle::bench {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

record measured(const std::string& library, double median, int ranks = 2) {
  return {.benchmark = "rate",
          .op = "put",
          .backend = "shm",
          .library = library,
          .ranks = ranks,
          .threads = 1,
          .bytes = 8,
          .metric = "rate",
          .unit = "M/s",
          .median = median,
          .p99 = median,
          .ci95_low = median,
          .ci95_high = median,
          .runs = 5};
}

outcome_row example() {
  record ratio = measured("heddle/ucx", 99);
  ratio.metric = "ratio";
  record line = measured("bare", 60);
  line.op = "cache-line";
  return {
      .what = {"example", kind::rate, {"rate", "--op", "put"}, {{"ucx", 3}, {"bare", 0.4}}},
      .records = {measured("heddle", 90), measured("ucx", 25), measured("bare", 300), ratio, line},
      .failure = {}};
}

TEST(Goals, HaveDistinctNamesAndEveryComparisonTheyJudge) {
  std::set<std::string> names;
  std::vector<row> rows = all_rows();
  rows.insert(rows.end(), utofu_rows().begin(), utofu_rows().end());
  for (const row& r : rows) {
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    for (const goal& g : r.goals) {
      if (g.record) continue;  // of a benchmark's own
      EXPECT_THAT(fmt::format("{}", fmt::join(r.arguments, ",")), HasSubstr(g.against)) << r.name;
    }
  }
}

TEST(Goals, AreSelectedByPartsOfTheirNames) {
  EXPECT_THAT(select_rows(all_rows(), {"shm-put-rate"}), SizeIs(2));  // and the crowded one
  EXPECT_THAT(select_rows(all_rows(), {"tcp-am-latency", "bandwidth"}), SizeIs(6));
  EXPECT_EQ(select_rows(all_rows(), {}).size(), all_rows().size());
}

TEST(Goals, RefuseAPatternThatSelectsNothing) {
  EXPECT_THROW((void)select_rows(all_rows(), {"put", "nothing"}), std::runtime_error);
}

TEST(Goals, CompareMediansOfTheSameThing) {
  EXPECT_DOUBLE_EQ(*figure_of(example(), {"ucx"}), 3.6);
  EXPECT_DOUBLE_EQ(*figure_of(example(), {"bare"}), 0.3);
  EXPECT_EQ(figure_of(example(), {"pair"}), std::nullopt);
}

TEST(Goals, CompareFourRanksWithTwo) {
  outcome_row r = example();
  r.records = {measured("heddle", 10, 4), measured("heddle", 20, 2)};
  EXPECT_DOUBLE_EQ(*figure_of(r, {"pair"}), 0.5);
}

TEST(Goals, MayBeAboutWhatARecordHolds) {
  outcome_row r = example();
  record scaling = measured("heddle", 0.8);
  scaling.metric = "scaling";
  scaling.threads = 4;
  r.records.push_back(scaling);
  const goal four{"T=4", 0.95, {{"scaling", {}, 4}}};
  r.what.goals = {four, {"T=8", 0.95, {{"scaling", {}, 8}}}};
  EXPECT_DOUBLE_EQ(*figure_of(r, four), 0.8);
  EXPECT_EQ(figure_of(r, r.what.goals[1]), std::nullopt);
  EXPECT_EQ(describe(r.what, four), "at least 0.95 (T=4)");
}

TEST(Goals, MayBeAboutOneOfSeveralThreadCounts) {
  outcome_row r = example();
  r.records = {measured("heddle", 10), measured("heddle", 30), measured("utofu", 11),
               measured("utofu", 40)};
  r.records[1].threads = r.records[3].threads = 24;
  const goal many{.against = "utofu", .bound = 0.95, .threads = 24};
  EXPECT_DOUBLE_EQ(*figure_of(r, many), 0.75);
  EXPECT_EQ(describe(r.what, many), "at least 0.95 x utofu, T=24");
  EXPECT_EQ(figure_of(r, {.against = "utofu", .threads = 48}), std::nullopt);
}

TEST(Goals, AreLowerBoundsForRatesAndUpperOnesForLatencies) {
  row r = example().what;
  EXPECT_TRUE(meets(r, {"ucx", 3}, 3.0));
  EXPECT_FALSE(meets(r, {"ucx", 3}, 2.9));
  r.what = kind::latency;
  EXPECT_TRUE(meets(r, {"ucx", 0.8}, 0.8));
  EXPECT_FALSE(meets(r, {"ucx", 0.8}, 0.9));
}

TEST(Goals, AreJudgedOneByOneInTheTables) {
  const std::string text = text_table({example()});
  EXPECT_THAT(text, HasSubstr("at least 3 x ucx"));
  EXPECT_THAT(text, HasSubstr("pass"));
  EXPECT_THAT(text, HasSubstr("short"));
  EXPECT_THAT(markdown_table({example()}),
              HasSubstr("| example | at least 0.4 x bare | 0.3 | short | 90 M/s | 300 M/s | "
                        "`rate --op put` |"));
}

TEST(Goals, OfARowWithoutRecordsFailed) {
  outcome_row r = example();
  r.records.clear();
  r.failure = "it took too long";
  EXPECT_THAT(text_table({r}), HasSubstr("failed"));
  EXPECT_THAT(text_table({r}), HasSubstr("it took too long"));
}

}  // namespace
}  // namespace heddle::bench
