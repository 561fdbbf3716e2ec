// SPDX-License-Identifier: BSD-3-Clause
#include "engine/courtesy.h"

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

void come(courtesy& c, int times, bool after_a_gift) {
  for (int i = 0; i < times; ++i) c.came(after_a_gift);
}

TEST(Courtesy, LooksFirstUntilGiftsWereNeededSeveralTimesInARow) {
  courtesy c(2, 1);
  come(c, 3, true);
  EXPECT_FALSE(c.at_once());
  come(c, 1, false);
  come(c, 3, true);
  EXPECT_FALSE(c.at_once());
  come(c, 1, true);
  EXPECT_TRUE(c.at_once());
}

TEST(Courtesy, LooksNowAndThenAgain) {
  courtesy c(2, 1);
  int looks = 0;
  for (int i = 0; i < 64; ++i) {
    c.came(true);
    looks += i > 3 && !c.at_once() ? 1 : 0;
  }
  EXPECT_EQ(looks, 4);
}

TEST(Courtesy, StaysAwakeAgainAsSoonAsALookWasEnough) {
  courtesy c(2, 1);
  come(c, 16, true);
  ASSERT_FALSE(c.at_once()) << "it is the turn of a look";
  c.came(false);
  EXPECT_FALSE(c.at_once());
  c.came(true);
  EXPECT_FALSE(c.at_once());
}

TEST(Courtesy, ForgetsPeersThatHaveLeftTheCore) {
  courtesy c(2, 1);
  come(c, 5, true);
  c.alone();
  EXPECT_FALSE(c.at_once());
}

TEST(Courtesy, LetsAsManyThreadsWaitAwakeAsThereAreCoresOrNone) {
  courtesy c(3, 1);
  EXPECT_EQ(c.awake(), 3);
  come(c, 4, true);
  EXPECT_EQ(c.awake(), 0);
}

TEST(Courtesy, LooksForLongerWhereRanksShareCoresAndNeverGivesTheCoreAwayAtOnce) {
  courtesy among_few(2, 1), in_a_crowd(2, 2), in_a_great_crowd(2, 100);
  EXPECT_EQ(among_few.look_ns(false), courtesy::for_ever);
  EXPECT_GT(in_a_crowd.look_ns(false), among_few.look_ns(true));
  EXPECT_EQ(in_a_crowd.look_ns(true), in_a_crowd.look_ns(false));
  EXPECT_LE(in_a_great_crowd.look_ns(true), among_few.look_ns(true));
  come(in_a_crowd, 5, true);
  EXPECT_FALSE(in_a_crowd.at_once());
}

}  // namespace
}  // namespace heddle::engine
