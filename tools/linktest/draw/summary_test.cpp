// SPDX-License-Identifier: BSD-3-Clause
// summary_test.cpp - the text on the terminal.
#include "linktest/draw/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "linktest/results/pair_list.h"
#include "linktest/results/sample.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Summary, TellsMinimumMedianAndMaximumPerSizeAndClass) {
  const std::string text = figures(sample_facts(), sample_results());
  EXPECT_THAT(text, HasSubstr("1 KiB"));
  EXPECT_THAT(text, HasSubstr("1.00 us"));
  EXPECT_THAT(text, HasSubstr("21.0 us"));
  EXPECT_THAT(text, HasSubstr("same host"));
  EXPECT_THAT(text, HasSubstr("other host"));
}

TEST(Summary, WarnsWhenRanksShareCores) {
  run_facts facts = full_facts();
  EXPECT_EQ(crowding_warning(facts), "");
  facts.places[0].cores = facts.places[1].cores = {2};
  EXPECT_THAT(crowding_warning(facts), HasSubstr("2 ranks share 1 core on alpha"));
  EXPECT_EQ(crowding_warning(sample_facts()), "") << "places are not known";
}

TEST(Summary, NamesTheSlowestPairsWithHostsAndRanks) {
  const std::string text = slowest_pairs(sample_facts(), sample_results());
  EXPECT_THAT(text, HasSubstr("rank 1 (alpha) -> rank 0 (alpha)"));
  EXPECT_THAT(text, HasSubstr("1.82 x host"));
  EXPECT_THAT(text, Not(HasSubstr("rank 2 (beta) -> rank 0")));  // one per size was asked for
}

TEST(Summary, FitsIntoFortyColumns) {
  run_facts facts = sample_facts();
  facts.chosen.width = 40;
  const results all = sample_results();
  std::istringstream text(describe_run(facts) + figures(facts, all) + slowest_pairs(facts, all) +
                          pictures(facts, all, color_depth::none));
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 40u) << line;
}

TEST(Summary, NamesFailedPairsAndWhy) {
  const std::string text = failures(sample_facts(), sample_results());
  EXPECT_THAT(text, HasSubstr("Failed measurements: 3"));
  EXPECT_THAT(
      text,
      HasSubstr("rank 1 (alpha) -> rank 2 (beta) 8 B: lost: died, or gave no answer within 60 s"));
  EXPECT_THAT(text, HasSubstr("rank 2 (beta) -> rank 0 (alpha) 1 KiB: corrupted"));
}

/// Of so many ranks, where pairs are lost of which `lost(initiator, peer)` says so.
template <class Lost>
results measured_but(int ranks, const Lost& lost) {
  results all(ranks, kernel::semi, {8});
  for (int a = 0; a < ranks; ++a) {
    row mine(1, ranks, 1);
    for (int b = 0; b < ranks; ++b) {
      if (a == b) continue;
      if (lost(a, b))
        mine.mark(0, b, pair_state::lost);
      else
        mine.add_time(0, b, 1e-6);
    }
    all.set_row(a, mine.records());
  }
  return all;
}

TEST(Summary, NamesARankWithWhichNothingWorksInsteadOfAllItsPairs) {
  const results all = measured_but(3, [](int a, int b) { return a == 1 || b == 1; });
  EXPECT_EQ(
      failures(sample_facts(), all),
      "Failed measurements: 4\n"
      "  all that is missing with rank 1 (alpha): lost: died, or gave no answer within 60 s\n");
}

TEST(Summary, NamesARankThatWasLostAfterAnotherHadMetItInsteadOfItsOtherPairs) {
  const results all = measured_but(4, [](int a, int b) { return (a == 3 || b == 3) && a != 0; });
  run_facts facts = sample_facts();
  facts.hosts.emplace_back("gamma");
  EXPECT_EQ(
      failures(facts, all),
      "Failed measurements: 5\n"
      "  all that is missing with rank 3 (gamma): lost: died, or gave no answer within 60 s\n");
}

TEST(Summary, DrawsBlocksOfManyRanksThatShowTheWorstPairInThem) {
  constexpr int ranks = most_ranks_of_matrices * 2;
  results all(ranks, kernel::semi, {8, 1024});
  run_facts facts = sample_facts();
  facts.hosts.assign(ranks, "alpha");
  for (int r = 0; r < ranks; ++r) {
    row mine(2, ranks, 1);
    const bool slow = r == ranks - 1;
    for (std::size_t s = 0; s < 2; ++s) mine.add_time(s, ranks - 1 - r, slow ? 9e-3 : 1e-6);
    all.set_row(r, mine.records());
  }
  const std::string text = pictures(facts, all, color_depth::none);
  EXPECT_THAT(text, HasSubstr("shows the worst of"));
  EXPECT_THAT(text, Not(HasSubstr("nothing was measured")));
  const blocks in_four = blocks_of(all, 1, metric::bandwidth, ranks / 2);
  EXPECT_EQ(in_four.side, 2);
  EXPECT_TRUE(std::isnan(in_four.values[0]));
  EXPECT_NEAR(in_four.values[2], 1024 / 9e-3, 1);
}

TEST(Summary, JudgesCorruptionWorseThanAMissingPair) {
  EXPECT_EQ(verdict_of(sample_results()), corrupted);
  results all(2, kernel::semi, {8});
  EXPECT_EQ(verdict_of(all), incomplete);
  for (int r = 0; r < 2; ++r) {
    row mine(1, 2, 1);
    mine.add_time(0, 1 - r, 1e-6);
    all.set_row(r, mine.records());
  }
  EXPECT_EQ(verdict_of(all), success);
  EXPECT_EQ(failures(sample_facts(), all), "");
}

TEST(Summary, SaysWhoMeasuresWhat) {
  EXPECT_EQ(describe_run(sample_facts()),
            "3 ranks on 2 hosts (alpha, beta) over near and wide\n"
            "kernel semi, op send, parallel, sizes 8 B, 1 KiB, 100 messages, 3 repetitions\n");
  run_facts facts = sample_facts();
  facts.groups = {"rack1", "rack1", "rack2"};
  EXPECT_THAT(describe_run(facts), HasSubstr("(alpha, beta) in 2 groups (rack1, rack2) over near"));
}

TEST(Summary, TellsHostsOfOneNameApart) {
  EXPECT_EQ(tell_apart({"a", "a", "b"}, {0, 0, 1}), (std::vector<std::string>{"a", "a", "b"}));
  EXPECT_EQ(tell_apart({"a", "b", "a", "a"}, {0, 1, 2, 0}),
            (std::vector<std::string>{"a#0", "b", "a#2", "a#0"}));
}

TEST(Summary, NamesTheFirstOfManyHosts) {
  run_facts facts = sample_facts();
  facts.chosen.width = 200;
  facts.hosts = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  EXPECT_THAT(describe_run(facts), HasSubstr("on 9 hosts (a, b, c, d, e, f, g, h, ...) over"));
}

TEST(Summary, SaysWhichHostSends) {
  run_facts facts = sample_facts();
  const auto drawn = [&] { return pictures(facts, sample_results(), color_depth::none); };
  EXPECT_THAT(drawn(), HasSubstr("across: to host; down: from host"));
  facts.chosen.kernel = kernel::uni;
  EXPECT_THAT(drawn(), HasSubstr("across: to host; down: from host"));
  facts.chosen.op = operation::get;  // the initiator, down, is who receives
  EXPECT_THAT(drawn(), HasSubstr("across: from host; down: to host"));
  EXPECT_THAT(drawn(), Not(HasSubstr("across: to host")));
}

TEST(Summary, ShowsTimesOfTheSmallestAndBandwidthsOfTheLargestSize) {
  const std::string text = pictures(sample_facts(), sample_results(), color_depth::none);
  EXPECT_THAT(text, HasSubstr("Time per message, 8 B"));
  EXPECT_THAT(text, HasSubstr("Bandwidth, 1 KiB"));
  EXPECT_THAT(text, HasSubstr("medians by host"));
  EXPECT_THAT(text, HasSubstr("hosts: 0 alpha 1 beta"));
}

}  // namespace
}  // namespace heddle::linktest
