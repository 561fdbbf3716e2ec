// SPDX-License-Identifier: BSD-3-Clause
// goals_test.cpp - the rows of the table, and judging made-up records.
#include "report/goals.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "exit_status.h"

namespace heddle::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

record measured(const std::string& library, double median, int ranks = 2) {
  return {.benchmark = "rate",
          .op = "put",
          .backend = "shm",
          .library = library,
          .ranks = ranks,
          .metric = "rate",
          .unit = "M/s",
          .median = median};
}

outcome_row example() {
  record ratio = measured("heddle/ucx", 99);
  ratio.metric = "ratio";
  record line = measured("bare", 60);
  line.op = "cache-line";
  return {
      .what = {"example",
               {"rate", "--op", "put"},
               {{.text = "at least 3 x ucx", .bound = 3, .against = "ucx"},
                {.text = "at least 0.4 x bare", .bound = 0.4, .against = "bare"}}},
      .records = {measured("heddle", 90), measured("ucx", 25), measured("bare", 300), ratio, line},
      .failure = {}};
}

std::vector<row> rows_of(const std::string& section) {
  return read_goals(GOALS, section);
}
TEST(Goals, HaveDistinctNamesAndEveryComparisonTheyJudge) {
  std::set<std::string> names;
  for (const char* section : {"shm and tcp", "utofu", "verbs"}) {
    EXPECT_THAT(rows_of(section), Not(SizeIs(0)));
    for (const row& r : rows_of(section)) {
      EXPECT_TRUE(names.insert(r.name).second) << r.name;
      for (const goal& g : r.goals)
        EXPECT_THAT(fmt::format("{}", fmt::join(r.arguments, ",")), HasSubstr(g.against)) << r.name;
    }
  }
}

TEST(Goals, AreReadWithAllTheirParts) {
  const auto rows = parse_goals(
      "[other]\nx | y | at least 1 x z\n# no row\n[mine]\n"
      "a-row | rate --op put | at most 0.5 x ucx, T=4; at least 2 scaling, T=8; at most 1 m of "
      "get; "
      "at most 100 above pair; at least 0.9 m of put, from 3 cores "
      "| A=1 B=2",
      "mine");
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].arguments, (std::vector<std::string>{"rate", "--op", "put"}));
  EXPECT_EQ(rows[0].settings, (std::vector<std::string>{"A=1", "B=2"}));
  const std::vector<goal> goals{
      {"at most 0.5 x ucx, T=4", true, 0.5, "ucx", false, "", "", 4},
      {"at least 2 scaling, T=8", false, 2, "", false, "scaling", "", 8},
      {"at most 1 m of get", true, 1, "", false, "m", "get", 0},
      {"at most 100 above pair", true, 100, "pair", true, "", "", 0},
      {"at least 0.9 m of put, from 3 cores", false, 0.9, "", false, "m", "put", 0, 3}};
  EXPECT_EQ(rows[0].goals, goals);
}

TEST(Goals, ThatCannotBeReadNameTheLineAndTheCure) {
  const auto reading = [](const std::string& text) {
    return [text] { (void)parse_goals("[s]\n" + text, "s"); };
  };
  const auto complains = [](const char* first, const char* second) {
    return ThrowsMessage<std::runtime_error>(AllOf(HasSubstr(first), HasSubstr(second)));
  };
  EXPECT_THAT(reading("name | words"), complains("line 2", "'|'"));
  EXPECT_THAT(reading("name | words | about 3 x ucx"), complains("line 2", "at least 3 x ucx"));
  EXPECT_THAT(reading("name | words | at least 3 x ucx, 4"), complains("ucx, 4", "T=NUMBER"));
  EXPECT_THROW((void)read_goals("/nonexistent", "s"), std::runtime_error);
  EXPECT_THAT([] { (void)rows_of("carrier pigeon"); },
              ThrowsMessage<tools::usage_error>(
                  AllOf(HasSubstr("'carrier pigeon'"), HasSubstr("shm and tcp, utofu, verbs"))));
}

TEST(Goals, AreSelectedByPartsOfTheirNames) {
  const auto rows = rows_of("shm and tcp");
  EXPECT_THAT(select_rows(rows, {"shm-put-rate"}), SizeIs(2));  // and the crowded one
  EXPECT_THAT(select_rows(rows, {"tcp-am-latency", "bandwidth"}), SizeIs(6));
  EXPECT_EQ(select_rows(rows, {}).size(), rows.size());
  EXPECT_THROW((void)select_rows(rows, {"put", "nothing"}), std::runtime_error);
}

// Medians of the same thing, four ranks with two, what a record holds, one of the thread counts.
TEST(Goals, CompareWithARivalOrJudgeARecord) {
  record scaling = measured("heddle", 0.8);
  scaling.metric = "scaling";
  scaling.threads = 4;
  outcome_row r = example();
  r.records.push_back(scaling);
  outcome_row crowded = example();
  crowded.records = {measured("heddle", 10, 4), measured("heddle", 20, 2)};
  outcome_row counts = example();
  counts.records = {measured("heddle", 10), measured("heddle", 30), measured("utofu", 11),
                    measured("utofu", 40)};
  counts.records[1].threads = counts.records[3].threads = 24;
  const struct {
    const outcome_row& row;
    goal what;
    std::optional<double> figure;
  } table[]{{r, {.against = "ucx"}, 3.6},
            {r, {.against = "bare"}, 0.3},
            {r, {.against = "pair"}, {}},
            {crowded, {.against = "pair"}, 0.5},
            {r, {.metric = "scaling", .threads = 4}, 0.8},
            {r, {.metric = "scaling", .threads = 8}, {}},
            {counts, {.against = "utofu", .threads = 24}, 0.75},
            {counts, {.against = "utofu", .threads = 48}, {}}};
  for (const auto& [row, what, figure] : table)
    EXPECT_EQ(figure_of(row, what), figure) << what.against << what.metric << what.threads;
}

TEST(Goals, AreLowerOrUpperBounds) {
  EXPECT_TRUE(meets({.bound = 3}, 3.0));
  EXPECT_FALSE(meets({.bound = 3}, 2.9));
  EXPECT_TRUE(meets({.at_most = true, .bound = 0.8}, 0.8));
  EXPECT_FALSE(meets({.at_most = true, .bound = 0.8}, 0.9));
}

TEST(Goals, AreJudgedOneByOneInTheTables) {
  const std::string text = text_table({example()});
  EXPECT_THAT(text, HasSubstr("at least 3 x ucx"));
  EXPECT_THAT(text, HasSubstr("pass"));
  EXPECT_THAT(text, HasSubstr("short"));
  EXPECT_THAT(markdown_table({example()}),
              HasSubstr("| example | at least 0.4 x bare | 0.3 | short | 90 M/s | 300 M/s | "
                        "`rate --op put` |"));
  outcome_row r = example();
  for (goal& g : r.what.goals) g.cores = 1'000'000;
  EXPECT_THAT(text_table({r}),
              AllOf(HasSubstr("unjudged"), Not(HasSubstr("pass")), Not(HasSubstr("short"))));
  r.records.clear();
  r.failure = "it took too long";
  EXPECT_THAT(text_table({r}), AllOf(HasSubstr("failed"), HasSubstr("it took too long")));
}

}  // namespace
}  // namespace heddle::bench
