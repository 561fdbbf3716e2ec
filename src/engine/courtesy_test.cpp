// SPDX-License-Identifier: BSD-3-Clause
#include "engine/courtesy.h"

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

void come(courtesy& c, int times, bool after_a_gift) {
  for (int i = 0; i < times; ++i) c.came(after_a_gift);
}

TEST(Courtesy, LooksFirstUntilGiftsWereNeededSeveralTimesInARow) {
  courtesy c(2);
  come(c, 3, true);
  EXPECT_FALSE(c.at_once());
  come(c, 1, false);
  come(c, 3, true);
  EXPECT_FALSE(c.at_once());
  come(c, 1, true);
  EXPECT_TRUE(c.at_once());
}

TEST(Courtesy, LooksNowAndThenAgain) {
  courtesy c(2);
  int looks = 0;
  for (int i = 0; i < 64; ++i) {
    c.came(true);
    looks += i > 3 && !c.at_once() ? 1 : 0;
  }
  EXPECT_EQ(looks, 4);
}

TEST(Courtesy, StaysAwakeAgainAsSoonAsALookWasEnough) {
  courtesy c(2);
  come(c, 16, true);
  ASSERT_FALSE(c.at_once()) << "it is the turn of a look";
  c.came(false);
  EXPECT_FALSE(c.at_once());
  c.came(true);
  EXPECT_FALSE(c.at_once());
}

TEST(Courtesy, ForgetsPeersThatHaveLeftTheCore) {
  courtesy c(2);
  come(c, 5, true);
  c.alone();
  EXPECT_FALSE(c.at_once());
}

TEST(Courtesy, LetsAsManyThreadsWaitAwakeAsThereAreCoresOrNone) {
  courtesy c(3);
  EXPECT_EQ(c.awake(), 3);
  come(c, 4, true);
  EXPECT_EQ(c.awake(), 0);
}

}  // namespace
}  // namespace heddle::engine
