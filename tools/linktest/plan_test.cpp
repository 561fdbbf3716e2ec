// plan_test.cpp - every ordered pair has one turn per repetition, in each mode, shuffled or not.
#include "linktest/plan.h"

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

}  // namespace
}  // namespace heddle::linktest
