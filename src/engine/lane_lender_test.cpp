// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_lender.h"

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

class LaneLender : public testing::Test {
 protected:
  /// How many looks in a row that find `thread` it takes until that gets the lane.
  int looks(const char& thread) {
    int n = 1;
    while (!lender_.lends_to(&thread, false)) ++n;
    return n;
  }
  void contest() { (void)lender_.lends_to(&b_, true); }
  lane_lender lender_;
  char a_ = 'a', b_ = 'b';
};

TEST_F(LaneLender, LendsAtOnceToWhoUsesTheLane) {
  EXPECT_FALSE(lender_.lends_to(nullptr, false));
  EXPECT_EQ(looks(a_), 1);
}

TEST_F(LaneLender, WaitsTwiceAsLongAfterEachContest) {
  contest();
  const int first = looks(a_);
  contest();
  EXPECT_EQ(looks(a_) - 1, 2 * (first - 1));
}

TEST_F(LaneLender, WaitsUntilOneThreadAloneUsesTheLane) {
  contest();
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(lender_.lends_to(&a_, false));
    EXPECT_FALSE(lender_.lends_to(&b_, false));
  }
}

TEST_F(LaneLender, ForgetsContestsWhileOneThreadAloneUsesTheLane) {
  contest();
  for (int i = 0; i < 1000; ++i) (void)lender_.lends_to(&a_, false);
  EXPECT_EQ(looks(b_), 1);
}

}  // namespace
}  // namespace heddle::engine
