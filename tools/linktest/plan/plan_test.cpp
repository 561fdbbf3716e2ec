// SPDX-License-Identifier: BSD-3-Clause
// plan_test.cpp - every ordered pair has one turn per repetition, in each mode, shuffled or not.
#include "linktest/plan/plan.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace heddle::linktest {
namespace {

using ordered_pairs = std::set<std::pair<int, int>>;

/// Adds who initiates with whom in one phase; returns how many do.
int collect_phase(const plan& p, int n, std::uint64_t repetition, std::int64_t step,
                  std::int64_t phase, ordered_pairs& into) {
  int initiators = 0;
  for (int r = 0; r < n; ++r) {
    const turn mine = p.turn_of(r, repetition, step, phase);
    if (mine.peer < 0) continue;
    const turn theirs = p.turn_of(mine.peer, repetition, step, phase);
    EXPECT_EQ(theirs.peer, r);
    EXPECT_NE(theirs.initiator, mine.initiator);
    if (!mine.initiator) continue;
    ++initiators;
    EXPECT_TRUE(into.emplace(r, mine.peer).second) << r << " meets " << mine.peer << " twice";
  }
  return initiators;
}

TEST(Plan, GivesEveryOrderedPairOneTurnInEachModeWithAndWithoutShuffle) {
  for (const run_mode mode : {run_mode::parallel, run_mode::serial}) {
    for (const bool shuffled : {false, true}) {
      for (int n = 2; n <= 17; ++n) {
        const plan p(n, mode, shuffled, 5);
        ordered_pairs met;
        for (std::int64_t s = 0; s < p.steps(); ++s)
          for (std::int64_t f = 0; f < p.phases(); ++f) collect_phase(p, n, 1, s, f, met);
        ASSERT_EQ(static_cast<int>(met.size()), n * (n - 1));
      }
    }
  }
}

TEST(Plan, MeasuresAtMostOnePairAtATimeInSerialMode) {
  const plan p(7, run_mode::serial, true, 3);
  for (std::int64_t s = 0; s < p.steps(); ++s) {
    for (std::int64_t f = 0; f < p.phases(); ++f) {
      ordered_pairs met;
      EXPECT_LE(collect_phase(p, 7, 0, s, f, met), 1);
    }
  }
}

TEST(Plan, ShufflesEachRepetitionAnewAndTheSameWayForTheSameSeed) {
  const plan p(32, run_mode::parallel, true, 1), again(32, run_mode::parallel, true, 1);
  int moved = 0;
  for (int r = 0; r < 32; ++r) {
    EXPECT_EQ(p.turn_of(r, 0, 0, 0).peer, again.turn_of(r, 0, 0, 0).peer);
    moved += p.turn_of(r, 0, 0, 0).peer != p.turn_of(r, 1, 0, 0).peer ? 1 : 0;
  }
  EXPECT_GT(moved, 16);
}

TEST(Plan, SamplesSoManyMatchingsWithoutMeetingAPairTwiceAndTheSameInEveryRepetition) {
  for (const int n : {16, 17}) {
    const plan p(n, run_mode::parallel, false, 9, 5);
    ASSERT_EQ(p.steps(), 5);
    ordered_pairs met, again;
    for (std::int64_t s = 0; s < p.steps(); ++s) {
      for (std::int64_t f = 0; f < p.phases(); ++f) {
        EXPECT_EQ(collect_phase(p, n, 0, s, f, met), 8);
        collect_phase(p, n, 1, s, f, again);
      }
    }
    EXPECT_EQ(met.size(), p.ordered_pairs());
    EXPECT_EQ(met, again);
  }
}

TEST(Plan, SamplesOtherPairsForAnotherSeed) {
  const plan a(64, run_mode::parallel, false, 1, 4), b(64, run_mode::parallel, false, 2, 4);
  int same = 0;
  for (int r = 0; r < 64; ++r) same += a.partner(r, 0, 0) == b.partner(r, 0, 0) ? 1 : 0;
  EXPECT_LT(same, 16);
}

TEST(Plan, HasEveryStepWhereTheSampleIsLarger) {
  EXPECT_EQ(plan(8, run_mode::parallel, false, 1, 100).steps(), 7);
}

TEST(Plan, NeedsLessThanAKilobyteForAnyNumberOfRanks) {
  EXPECT_LT(sizeof(plan), 1024u);  // and allocates nothing: it has no member that could
  const plan p(1'800'000, run_mode::parallel, false, 1, 32);
  for (const int r : {0, 1'234'567, 1'799'999}) {
    const auto met = static_cast<int>(p.partner(r, 0, 31));
    EXPECT_EQ(p.partner(met, 0, 31), r);
  }
}

}  // namespace
}  // namespace heddle::linktest
