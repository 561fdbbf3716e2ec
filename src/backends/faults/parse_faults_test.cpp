// SPDX-License-Identifier: BSD-3-Clause
// parse_faults_test.cpp - the text of HEDDLE_FAULTS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include "backends/faults/faults.h"

namespace heddle::transport {
namespace {

using testing::HasSubstr;

TEST(ParseFaults, GivesNoFaultsForAnEmptyText) {
  const fault_plan plan = parse_faults("", 0);
  EXPECT_EQ(plan.delay + plan.reorder + plan.busy + plan.split, 0u);
  EXPECT_EQ(plan.fail_from, 0u);
  EXPECT_EQ(plan.kill, -1);
  EXPECT_TRUE(plan.map);
}

TEST(ParseFaults, ReadsEveryItem) {
  const fault_plan plan =
      parse_faults("seed=42,delay=3,reorder=30,busy=20,split=50,fail=1000,kill=2@500,map=off", 0);
  EXPECT_EQ(plan.delay, 3u);
  EXPECT_EQ(plan.reorder, 30u);
  EXPECT_EQ(plan.busy, 20u);
  EXPECT_EQ(plan.split, 50u);
  EXPECT_EQ(plan.fail_from, 1000u);
  EXPECT_EQ(plan.kill, 2);
  EXPECT_EQ(plan.kill_at, 500u);
  EXPECT_FALSE(plan.map);
}

TEST(ParseFaults, ReadsWhichWaysAreLate) {
  using std::chrono::microseconds;
  const fault_plan node = parse_faults("late=2:50", 0);
  EXPECT_EQ(node.lateness(2, 1), microseconds(50));
  EXPECT_EQ(node.lateness(1, 2), microseconds(50));
  EXPECT_EQ(node.lateness(0, 1), microseconds(0));
  const fault_plan sends = parse_faults("late=2>:50", 0), receives = parse_faults("late=>2:50", 0);
  EXPECT_EQ(sends.lateness(2, 1), microseconds(50));
  EXPECT_EQ(sends.lateness(1, 2), microseconds(0));
  EXPECT_EQ(receives.lateness(2, 1), microseconds(0));
  EXPECT_EQ(receives.lateness(1, 2), microseconds(50));
  const fault_plan there = parse_faults("late=1>2:7", 0), both = parse_faults("late=1-2:7", 0);
  EXPECT_EQ(there.lateness(1, 2), microseconds(7));
  EXPECT_EQ(there.lateness(2, 1), microseconds(0));
  EXPECT_EQ(both.lateness(2, 1), microseconds(7));
  EXPECT_EQ(both.lateness(1, 0), microseconds(0));
}

TEST(ParseFaults, MakesOneRailLateAndAddsUpWhatFits) {
  using std::chrono::microseconds;
  fault_plan plan = parse_faults("late=1/1:50,late=>2:5", 0);
  EXPECT_EQ(plan.lateness(1, 2), microseconds(5)) << "this is rail 0";
  plan.rail = 1;
  EXPECT_EQ(plan.lateness(1, 2), microseconds(55));
}

TEST(ParseFaults, GivesEachRankItsOwnSeedAndTheSameOneEveryTime) {
  EXPECT_EQ(parse_faults("seed=42", 1).seed, parse_faults("seed=42", 1).seed);
  EXPECT_NE(parse_faults("seed=42", 1).seed, parse_faults("seed=42", 2).seed);
  EXPECT_NE(parse_faults("seed=42", 1).seed, parse_faults("seed=43", 1).seed);
}

TEST(ParseFaults, NamesTheBadItemAndWhatWouldBeAccepted) {
  for (const char* bad :
       {"busy=91",   "busy=",      "busy=x",          "delay=-1",
        "kill=3",    "kill=@3",    "what=1",          "late=1",
        "late=:5",   "late=1>2",   "late=>:5",        "late=-1:5",
        "late=1-:5", "late=a>b:5", "late=1/x:5",      "late=1:2000000",
        "map=maybe", "seed",       "busy=1,,split=2", "seed=99999999999999999999"}) {
    try {
      (void)parse_faults(bad, 0);
      ADD_FAILURE() << bad << " was accepted";
    } catch (const error& e) {
      EXPECT_THAT(e.what(), HasSubstr("HEDDLE_FAULTS"));
      EXPECT_THAT(e.what(), HasSubstr("expected")) << bad;
    }
  }
}

}  // namespace
}  // namespace heddle::transport
