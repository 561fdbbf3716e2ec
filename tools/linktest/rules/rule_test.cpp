// SPDX-License-Identifier: BSD-3-Clause
// rule_test.cpp - rules are read, held against every pair, and compared with an earlier run.
#include "linktest/rules/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <cstdio>
#include <fstream>

#include "exit_status.h"
#include "linktest/inspection.h"
#include "linktest/results/json_document.h"
#include "linktest/results/sample.h"

namespace heddle::linktest {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Four ranks on two hosts: a microsecond on one host, ten between two, and 0 -> 2 as given.
results four_ranks(float odd_pair_s, float half_interval = 0.01F) {
  results all(4, kernel::semi, {1000});
  for (int a = 0; a < 4; ++a) {
    std::vector<row_record> row;
    for (int b = 0; b < 4; ++b) {
      if (a == b) continue;
      const float t = a == 0 && b == 2 ? odd_pair_s : a / 2 == b / 2 ? 1e-6F : 1e-5F;
      pair_record& pair = row.emplace_back(row_record{b, 0, {}}).known;
      sketch& s = pair.time;
      s.n = 9;
      s.median = s.max = s.p99 = t;
      s.ci_low = t * (1 - half_interval);
      s.ci_high = t * (1 + half_interval);
      pair.state = pair_state::measured;
    }
    all.set_row(a, row);
  }
  return all;
}

run_facts on_hosts(std::vector<std::string> hosts) {
  run_facts facts;
  facts.hosts = std::move(hosts);
  return facts;
}

std::vector<broken_rule> check(const char* text, const results& all) {
  return check_rules({parse_rule(text)}, {all, on_hosts({"a", "a", "b", "b"})}, nullptr);
}

TEST(Rules, AreHeldAgainstThePairsOfEachClassOnTheirOwn) {
  const results slow = four_ranks(2e-5F);
  const auto missed = check("median>=0.93*ref", slow);
  ASSERT_THAT(missed, SizeIs(1));
  EXPECT_EQ(missed[0].pairs, 1u);
  EXPECT_EQ(missed[0].of, 12u);
  EXPECT_EQ(missed[0].initiator, 0);
  EXPECT_EQ(missed[0].peer, 2);
  const std::vector<std::string> names = names_of_ranks({"a", "a", "b", "b"});
  EXPECT_EQ(in_words(missed[0], names),
            "Missed: median>=0.93*ref at 1000 B: 1 of 12 pairs; the worst is rank 0 (a) -> rank 2 "
            "(b) with 50.0 MB/s where 93.0 MB/s was wanted\n");
  EXPECT_THAT(in_words(check("other:time<=1.5e-5", slow)[0], names),
              HasSubstr("with 20.0 us where 15.0 us was wanted"));
  EXPECT_THAT(check("median>=0.4*ref", slow), IsEmpty());
  EXPECT_THAT(check("host:median>=0.93*ref", slow), IsEmpty());
  EXPECT_THAT(check("other:median>=0.93*ref", slow), SizeIs(1));
}

TEST(Rules, HoldPairsOfAGroupAgainstTheirOwnMedianAndNotThatOfPairsApart) {
  const results all = four_ranks(1e-5F);
  // Four hosts, two in each group: a microsecond inside, ten between.
  run_facts facts = on_hosts({"a", "b", "c", "d"});
  facts.groups = {"near", "near", "far", "far"};
  const judged run{all, facts};
  const auto missed = [&run](const char* text) {
    return check_rules({parse_rule(text)}, run, nullptr);
  };
  EXPECT_THAT(missed("median>=0.93*ref"), IsEmpty());
  EXPECT_THAT(missed("group:time<=1.5e-6"), IsEmpty());
  EXPECT_THAT(missed("other:time<=1.5e-6"), SizeIs(1));
  const auto apart = missed("network:time<=1.5e-6");
  ASSERT_THAT(apart, SizeIs(1));
  EXPECT_EQ(apart[0].of, 8u);
  ASSERT_THAT(missed("group:time<=5e-7"), SizeIs(1));
  EXPECT_EQ(missed("group:time<=5e-7")[0].of, 4u);
}

TEST(Rules, HoldPairsOfACoreComplexAgainstTheirOwnMedianAndCountThemAsPairsOfAHost) {
  const results all = four_ranks(1e-5F);
  // One host with two complexes: a microsecond inside, ten between.
  run_facts facts = on_hosts({"a", "a", "a", "a"});
  facts.places = {{"0", {0}, 0}, {"1", {1}, 0}, {"2", {2}, 1}, {"3", {3}, 1}};
  const judged run{all, facts};
  EXPECT_THAT(check_rules({parse_rule("time<=1.1*ref")}, run, nullptr), IsEmpty());
  const auto missed = check_rules({parse_rule("host:time<=5e-7")}, run, nullptr);
  ASSERT_THAT(missed, SizeIs(1));
  EXPECT_EQ(missed[0].of, 12u);
  EXPECT_THAT(check_rules({parse_rule("other:time<=5e-7")}, run, nullptr), IsEmpty());
}

TEST(Rules, AreForTheClassThatIsNamedInFrontOfThem) {
  const results all = four_ranks(1e-5F);
  // Two sockets; on the first two ranks on one core, on the other two complexes.
  run_facts facts = on_hosts({"a", "a", "a", "a"});
  facts.places = {{"0", {0}, 0, 0}, {"0", {0}, 0, 0}, {"2", {2}, 1, 1}, {"3", {3}, 2, 1}};
  const auto pairs_of = [&](const std::string& name) {
    const auto missed = check_rules({parse_rule(name + ":time<=1e-9")}, {all, facts}, nullptr);
    return missed.empty() ? 0 : missed[0].of;
  };
  EXPECT_EQ(pairs_of("core"), 2u);
  EXPECT_EQ(pairs_of("complex"), 0u);
  EXPECT_EQ(pairs_of("socket"), 2u);
  EXPECT_EQ(pairs_of("host"), 12u);
  EXPECT_EQ(pairs_of("all"), 12u);
  EXPECT_EQ(pairs_of("other"), 0u);
}

TEST(Rules, TakeNumbersAndUpperLimits) {
  const results slow = four_ranks(2e-5F);
  EXPECT_THAT(check("time<=1.5e-5", slow), SizeIs(1));
  EXPECT_THAT(check("time<=3e-5", slow), IsEmpty());
  EXPECT_THAT(check("p99 <= 1.5 * ref", slow), SizeIs(1));
  EXPECT_THAT(check("host:bandwidth>=9e8", slow), IsEmpty());
  EXPECT_THAT(check("host:bandwidth>=2e9", slow), SizeIs(1));
}

TEST(Rules, NameTheTextAndWhatIsAccepted) {
  for (const char* bad : {"", "median", "median>0.9", "mean>=1", "median>=ref*0.9",
                          "switch:time<=1", "time<=-1", "median>=0.93*ref and more"}) {
    try {
      (void)parse_rule(bad);
      ADD_FAILURE() << bad;
    } catch (const error& e) {
      EXPECT_THAT(e.what(), HasSubstr("0.93*ref"));
    }
  }
}

struct saved_run {
  std::string path = testing::TempDir() + "baseline.json";
  explicit saved_run(const results& all) {
    run_facts facts;
    facts.chosen.sizes = {1000};
    facts.hosts = {"a", "a", "b", "b"};
    std::ofstream(path) << text_of(write_json, facts, all);
  }
  ~saved_run() { std::remove(path.c_str()); }
  saved_run(const saved_run&) = delete;
  saved_run& operator=(const saved_run&) = delete;
};

TEST(Baseline, IsReadFromTheFileOfAnEarlierRunAndNamesWhatHasBecomeSlower) {
  const saved_run saved(four_ranks(1e-5F));
  const baseline before = read_baseline(saved.path);
  EXPECT_THAT(slower_than(before, four_ranks(1e-5F), 0.05), IsEmpty());
  const auto slower = slower_than(before, four_ranks(1.3e-5F), 0.05);
  ASSERT_THAT(slower, SizeIs(1));
  EXPECT_EQ(slower[0].initiator, 0);
  EXPECT_EQ(slower[0].peer, 2);
}

TEST(Baseline, DoesNotTakeForSlowerWhatTheIntervalsAllow) {
  const saved_run saved(four_ranks(1e-5F));
  EXPECT_THAT(slower_than(read_baseline(saved.path), four_ranks(1.3e-5F, 0.3F), 0.05), IsEmpty());
}

TEST(Baseline, SaysWhyItCannotBeComparedWith) {
  const saved_run saved(four_ranks(1e-5F));
  const baseline before = read_baseline(saved.path);
  const results now = four_ranks(1e-5F);
  run_facts same, others, puts;
  same.hosts = puts.hosts = {"a", "a", "b", "b"};
  others.hosts = {"a", "a", "c", "c"};
  puts.chosen.op = operation::put;
  EXPECT_EQ(incomparable(before, now, same), "");
  EXPECT_THAT(incomparable(before, now, others), HasSubstr("other hosts"));
  EXPECT_THAT(incomparable(before, now, puts), HasSubstr("--kernel semi --op send"));
  baseline silent = before;
  options unknown;
  unknown.kernel = kernel::unknown;
  silent.traffic = traffic_of(unknown);
  EXPECT_THAT(incomparable(silent, now, same), HasSubstr("give its linktest.json"));
  EXPECT_THAT(incomparable(before, results(3, kernel::semi, {1000}), same), HasSubstr("4 ranks"));
  EXPECT_THAT(incomparable(before, results(4, kernel::semi, {8}), same), HasSubstr("--sizes"));
}

TEST(Baseline, OfAnotherLayerIsNotComparedWith) {
  const results all = four_ranks(1e-5F);
  baseline before{all, {"a", "a", "b", "b"}, "--kernel semi --op send", "wide", {"wide"}};
  run_facts now;
  now.hosts = before.hosts;
  now.chosen.layer = "near.rail1";
  now.routes = {"near.rail1"};
  EXPECT_EQ(incomparable(before, all, now),
            "it was measured over wide, and this run over near.rail1: give --layers wide");
  now.chosen.layer = "auto";
  now.routes = {"near", "wide"};
  EXPECT_EQ(incomparable(before, all, now),
            "it was measured over wide, and this run over near and wide: give --layers wide");
  now.routes = before.routes;
  EXPECT_EQ(incomparable(before, all, now), "") << "the same wire, chosen in another way";
  now.chosen.layer = "wide.rail0";
  EXPECT_NE(incomparable(before, all, now), "") << "one rail in place of all";
  before.routes.clear();
  EXPECT_EQ(incomparable(before, all, now), "") << "not told by its file";
}

TEST(Baseline, RefusesWhatIsNoResultWithTheCure) {
  const std::string path = testing::TempDir() + "no-baseline.json";
  for (const char* text : {"", "{}", "[1]", R"({"format":"heddle-linktest"})",
                           R"({"format":"heddle-linktest","ranks":2,"hosts":["a"],"options":{)"
                           R"("kernel":"semi"},"sizes":[{"bytes":8,"matrices":{}}]})"}) {
    std::ofstream(path) << text;
    try {
      (void)read_baseline(path);
      ADD_FAILURE() << text;
    } catch (const tools::usage_error& e) {
      EXPECT_THAT(e.what(), HasSubstr("linktest.json of an earlier run")) << text;
    }
  }
  std::remove(path.c_str());
}

TEST(Findings, EndInTheStatusOfTheWorstButFailuresOfMeasuringComeFirst) {
  findings none, slow, missed;
  slow.slow.emplace().verdicts.emplace_back().what = culprit::link;
  missed.missed.emplace_back();
  EXPECT_EQ(status_of(none, success), success);
  EXPECT_EQ(status_of(slow, success), slow_part);
  EXPECT_EQ(status_of(missed, success), rule_missed);
  EXPECT_EQ(status_of(slow, incomplete), incomplete);
  EXPECT_EQ(status_of(slow, corrupted), corrupted);
}

}  // namespace
}  // namespace heddle::linktest
