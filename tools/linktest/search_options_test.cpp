// SPDX-License-Identifier: BSD-3-Clause
// search_options_test.cpp - the options of sampling, judging and simulating.
#include "linktest/search_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "linktest/plan/dry_run.h"

namespace heddle::linktest {
namespace {

using testing::HasSubstr;
using testing::Not;

options parsed(std::vector<std::string> words) {
  options o;
  CLI::App command;
  declare_options(command, o);
  std::reverse(words.begin(), words.end());
  command.parse(words);
  return o;
}

std::string refusal(std::vector<std::string> words) {
  try {
    parsed(std::move(words));
  } catch (const CLI::ParseError& e) {
    return e.what();
  }
  return {};
}

TEST(SearchOptions, AreReadAndReachTheRanks) {
  const options o =
      parsed({"-n", "4", "--pairs", "3", "--time", "2m", "--slow", "2.5", "--diagnosis", "never",
              "--expect", "median>=0.93*ref", "--expect", "host:time<=1e-5"});
  EXPECT_EQ(o.search.pairs, 3u);
  EXPECT_EQ(o.search.time_s, 120);
  EXPECT_EQ(o.search.slow, 2.5);
  EXPECT_EQ(o.search.diagnose, diagnosis_choice::never);
  std::vector<std::string> rendered = to_arguments(o);
  rendered.erase(rendered.begin());
  const options again = parsed(rendered);
  EXPECT_EQ(again.search.time_s, 120);
  EXPECT_EQ(again.search.expect, o.search.expect);
  EXPECT_EQ(again.search.diagnose, diagnosis_choice::never);
}

TEST(SearchOptions, TellRanksWhatTheFileOfGroupsSaysAndNotWhereItIs) {
  const std::string path = testing::TempDir() + "racks.txt";
  std::ofstream(path) << "rack1: n[1-2],login # at the door\nrack2: n[3-4]\n";
  std::vector<std::string> rendered = to_arguments(parsed({"-n", "4", "--groups", path}));
  std::remove(path.c_str());
  rendered.erase(rendered.begin());
  const options of_rank = parsed(rendered);
  ASSERT_EQ(of_rank.search.groups.size(), 2u);
  EXPECT_EQ(text_of(of_rank.search.groups[0]), "rack1: n[1-2],login");
  EXPECT_EQ(of_rank.search.groups[1].hosts, (std::vector<std::string>{"n3", "n4"}));
  EXPECT_THAT(refusal({"-n", "4", "--groups", path}), HasSubstr("racks.txt"));
}

TEST(SearchOptions, NameTheCureForAWrongValue) {
  EXPECT_THAT(refusal({"--time", "soon"}), HasSubstr("90s, 5m, 1h"));
  EXPECT_THAT(refusal({"--slow", "1"}), HasSubstr("1.05"));
  EXPECT_THAT(refusal({"--expect", "fast"}), HasSubstr("0.93*ref"));
  EXPECT_THAT(refusal({"--simulate", "ring"}), HasSubstr("fattree, torus or dragonfly"));
  EXPECT_THAT(refusal({"--faults", "disk=1:2"}), HasSubstr("node_tx=HOST:FACTOR"));
  EXPECT_EQ(refusal({"--baseline", "/no/such/file"}), "") << "it need be there for rank 0 alone";
}

TEST(SearchOptions, TakeSecondsMinutesAndHours) {
  EXPECT_EQ(parse_duration("90"), 90);
  EXPECT_EQ(parse_duration("1.5s"), 1.5);
  EXPECT_EQ(parse_duration("5m"), 300);
  EXPECT_EQ(parse_duration("1h"), 3600);
  for (const char* bad : {"", "s", "-1", "0", "1d", "1 m", "nan", "1e99"})
    EXPECT_THROW((void)parse_duration(bad), error) << bad;
}

TEST(DryRun, TellsStepsPairsAndThePlansMemoryForTheLargestJob) {
  options o = parsed({"-n", "1800000", "--pairs", "32", "--ranks-per-host", "64"});
  const cost c = cost_of(o);
  EXPECT_EQ(c.steps, 32u);
  EXPECT_EQ(c.ordered_pairs, 32u * 1'800'000u);
  EXPECT_LE(c.plan_bytes, 1024u * 1024u);
  EXPECT_GT(c.seconds, 0);
  EXPECT_THAT(describe_cost(o), HasSubstr("28125 hosts"));
  o.search.pairs = 0;
  EXPECT_EQ(cost_of(o).steps, 1'799'999u);
}

TEST(DryRun, CountsTheMeasurementsThatAnIntervalNeedsAndThoseThatAreAllowed) {
  const cost adaptive = cost_of(parsed({"-n", "16"}));
  EXPECT_GT(adaptive.most_seconds, 3 * adaptive.seconds);
  const cost fixed = cost_of(parsed({"-n", "16", "--repetitions", "6"}));
  EXPECT_EQ(fixed.bytes_sent, fixed.most_bytes_sent);
  EXPECT_EQ(fixed.bytes_sent, adaptive.bytes_sent);
  EXPECT_THAT(describe_cost(parsed({"-n", "16"})), HasSubstr(" to "));
}

TEST(DryRun, TakesHalvesOfWholeHostsAsNeighboursFillThem) {
  // Eight hosts: four of seven ranks, and four of the 23 others.
  const options o = parsed({"-n", "51", "--ranks-per-host", "7", "--bisection", "hosts"});
  EXPECT_EQ(cost_of(o).steps, 28u);
  EXPECT_EQ(cost_of(o).ordered_pairs, 2u * 28 * 23);
}

TEST(DryRun, SaysWhatItIsThatLacksMemoryAndItsOwnCure) {
  constexpr int ranks = 20'000;
  constexpr std::uint64_t mib = 1024 * 1024, gib = 1024 * mib;
  const options diagnosed = parsed({"-n", "20000", "--diagnosis", "always"});
  const options all = parsed({"-n", "20000", "--diagnosis", "never"});
  EXPECT_THAT(lacking_memory(diagnosed, ranks, 8 * gib), HasSubstr("--diagnosis never"));
  EXPECT_EQ(lacking_memory(all, ranks, 8 * gib), "");
  const options few = parsed({"-n", "2000", "--diagnosis", "always"});
  const std::string told = lacking_memory(few, 2000, 256 * mib);
  EXPECT_THAT(
      told,
      HasSubstr("what 2000 ranks measure takes rank 0 0.37 GB of memory, and its host has 0.27"));
  EXPECT_THAT(told, Not(HasSubstr("--diagnosis")));
}

TEST(DryRun, CountsTheRowsOfBothSectionsThatArePaired) {
  const cost one = cost_of(parsed({"-n", "1000", "--diagnosis", "never"}));
  const cost two = cost_of(parsed({"-n", "1000", "--diagnosis", "never", "--mode", "paired"}));
  EXPECT_EQ(two.report_bytes, 2 * one.report_bytes);
}

TEST(DryRun, StaysWithinTheTimeThatIsGiven) {
  const options o = parsed({"-n", "100000", "--time", "60"});
  EXPECT_LE(cost_of(o).seconds, 61);
  EXPECT_LT(cost_of(o).steps, 99'999u);
}

}  // namespace
}  // namespace heddle::linktest
