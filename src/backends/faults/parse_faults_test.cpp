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

TEST(ParseFaults, GivesEachRankItsOwnSeedAndTheSameOneEveryTime) {
  EXPECT_EQ(parse_faults("seed=42", 1).seed, parse_faults("seed=42", 1).seed);
  EXPECT_NE(parse_faults("seed=42", 1).seed, parse_faults("seed=42", 2).seed);
  EXPECT_NE(parse_faults("seed=42", 1).seed, parse_faults("seed=43", 1).seed);
}

TEST(ParseFaults, NamesTheBadItemAndWhatWouldBeAccepted) {
  for (const char* bad : {"busy=91", "busy=", "busy=x", "delay=-1", "kill=3", "kill=@3", "what=1",
                          "map=maybe", "seed", "busy=1,,split=2", "seed=99999999999999999999"}) {
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
