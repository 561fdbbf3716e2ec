// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/credit.h"

#include <gtest/gtest.h>

namespace heddle::protocols {
namespace {

class Credit : public testing::Test {
 protected:
  Credit() { credit_.open(160, 40); }
  credit credit_;
};

TEST_F(Credit, CoversWhatIsLeftOfIt) {
  credit_.take(100);
  EXPECT_TRUE(credit_.covers(60));
  EXPECT_FALSE(credit_.covers(61));
  credit_.take_back(1);
  EXPECT_TRUE(credit_.covers(61));
}

TEST_F(Credit, TakesNoMoreThanWasTaken) {
  credit_.take(100);
  EXPECT_TRUE(credit_.add(60, 1));
  EXPECT_FALSE(credit_.add(41, 1));
  EXPECT_EQ(credit_.left(), 120u);
}

TEST_F(Credit, MayCoverWhatComesWhileTheReceiverKeepsLessThanAPortion) {
  credit_.take(160);
  EXPECT_TRUE(credit_.may_cover(120));
  EXPECT_FALSE(credit_.may_cover(121));
}

TEST_F(Credit, IsWaitedForFromTheFirstMessageThatFindsNoneUntilSomeComes) {
  EXPECT_EQ(credit_.waited_ns(1000), 0u);
  EXPECT_EQ(credit_.waited_ns(1500), 500u);
  EXPECT_TRUE(credit_.add(0, 1600));
  EXPECT_EQ(credit_.waited_ns(2000), 0u);
}

TEST_F(Credit, HasComeLatelyOnlyOnceItHasCome) {
  EXPECT_FALSE(credit_.came_within(1000, 10));
  EXPECT_TRUE(credit_.add(0, 100));
  EXPECT_TRUE(credit_.came_within(1000, 1099));
  EXPECT_FALSE(credit_.came_within(1000, 1100));
}

TEST_F(Credit, HoldsNoMoreThanWasGiven) {
  EXPECT_TRUE(credit_.hold(100));
  EXPECT_FALSE(credit_.hold(61));
  credit_.let_go(100);
  EXPECT_TRUE(credit_.hold(160));
}

TEST_F(Credit, IsGivenBackInPortions) {
  EXPECT_FALSE(credit_.owe(39));
  EXPECT_TRUE(credit_.owe(1));
  EXPECT_EQ(credit_.settle(), 40u);
  EXPECT_FALSE(credit_.owe(39));
}

TEST_F(Credit, TellsAsOftenOfMessagesThatTookNone) {
  EXPECT_FALSE(credit_.count_early(39));
  EXPECT_TRUE(credit_.count_early(1));
  EXPECT_EQ(credit_.settle(), 0u);
  EXPECT_FALSE(credit_.count_early(39)) << "it has just been told";
}

}  // namespace
}  // namespace heddle::protocols
