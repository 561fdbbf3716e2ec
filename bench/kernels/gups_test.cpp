// SPDX-License-Identifier: BSD-3-Clause
// gups_test.cpp - the sequence, its beginnings, and finding lost updates.
#include "kernels/gups.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace heddle::bench {
namespace {

TEST(GupsStream, ShiftsTakesThePolynomialWhenABitFallsOutAndBeginsWhereSteppingWouldHaveLed) {
  EXPECT_EQ(gups_stream::starts(0), 1u);
  EXPECT_EQ(gups_stream::starts(63), std::uint64_t{1} << 63);
  EXPECT_EQ(gups_stream::starts(64), 7u);
  gups_stream stepped(0);
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    EXPECT_EQ(stepped.next(), gups_stream::starts(n)) << n;
  }
  gups_stream far(std::uint64_t{1} << 40);
  (void)far.next();
  EXPECT_EQ(far.next(), gups_stream::starts((std::uint64_t{1} << 40) + 2));
}

TEST(GupsPlan, GivesEachThreadItsOwnPieceOfTheSequence) {
  const gups_plan plan{.ranks = 2, .threads = 2, .words = 16, .updates = 10};
  std::set<std::uint64_t> seen;
  for (int rank = 0; rank < 2; ++rank) {
    for (int thread = 0; thread < 2; ++thread) {
      gups_stream s = plan.stream(rank, thread);
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(seen.insert(s.next()).second);
    }
  }
  EXPECT_TRUE(seen.contains(gups_stream::starts(40)));
}

TEST(GupsPlan, UpdatesEveryOtherRankAndNeverItself) {
  const gups_plan plan{.ranks = 3, .threads = 1, .words = 16, .updates = 100};
  std::set<int> targets;
  gups_stream s = plan.stream(1, 0);
  for (int i = 0; i < 100; ++i) targets.insert(plan.target(1, s.next()));
  EXPECT_EQ(targets, (std::set<int>{0, 2}));
}

TEST(GupsPlan, HasAPowerOfTwoOfWordsInHalfOfTheMemory) {
  EXPECT_EQ(gups_words(20'000'000), std::uint64_t{1} << 20);
  EXPECT_EQ(gups_words(64), 4u);
  EXPECT_EQ(gups_words(1), 1u);
}

/// The table of rank 0 after all updates of `plan` but `skipped` of them.
std::vector<std::uint64_t> updated(const gups_plan& plan, int skipped) {
  std::vector<std::uint64_t> table(plan.words);
  reset_table(table);
  for (int from = 1; from < plan.ranks; ++from) {
    for (int t = 0; t < plan.threads; ++t) {
      gups_stream s = plan.stream(from, t);
      for (std::uint64_t i = 0; i < plan.updates; ++i) {
        const std::uint64_t random = s.next();
        if (plan.target(from, random) == 0 && skipped-- <= 0) table[plan.index(random)] ^= random;
      }
    }
  }
  return table;
}

TEST(GupsVerification, FindsEachLostUpdateAndNothingElse) {
  const gups_plan several{.ranks = 3, .threads = 2, .words = 64, .updates = 500};
  auto table = updated(several, 0);
  EXPECT_EQ(count_lost(table, several, 0), 0u);
  const gups_plan apart{.ranks = 2, .threads = 1, .words = 1 << 16, .updates = 500, .first = 77};
  table = updated(apart, 3);
  EXPECT_EQ(count_lost(table, apart, 0), 3u);
}

}  // namespace
}  // namespace heddle::bench
