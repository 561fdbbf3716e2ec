// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_parking.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "support/lane_fixture.h"

namespace heddle::engine {
namespace {

using readiness = sync::parking<>::readiness;

class LaneParking : public testing::Test {
 protected:
  explicit LaneParking(progress_mode mode = progress_mode::adaptive)
      : parking_(helpers{.alarm = alarm_, .keeper = keeper_, .mode = mode}) {}
  readiness look() {
    return parking_.state().look(false, [] { return true; });
  }
  bool rung() {
    pollfd bell{.fd = parking_.bell(), .events = POLLIN, .revents = 0};
    return poll(&bell, 1, 0) == 1;
  }
  counting_alarm alarm_;
  counting_keeper keeper_;
  lane_parking parking_;
};
class LaneParkingInline : public LaneParking {
 protected:
  LaneParkingInline() : LaneParking(progress_mode::inline_only) {}
};

TEST_F(LaneParking, APollTellsTheExecutorThatSleptOnTheDescriptors) {
  ASSERT_EQ(look(), readiness::watched);
  EXPECT_TRUE(parking_.executor_watches());
  parking_.disarm();
  EXPECT_EQ(alarm_.soon, 1);
  EXPECT_FALSE(parking_.executor_watches());
}

TEST_F(LaneParking, WhatSomebodyHasToPollForBringsTheExecutorAtOnceAndOnce) {
  ASSERT_EQ(look(), readiness::watched);
  parking_.disarm_and_wake();
  EXPECT_EQ(alarm_.wakes, 1);
  EXPECT_EQ(alarm_.soon, 0);
}

TEST_F(LaneParking, AnExecutorRestsWithoutLimitWhileNothingIsInFlightAndNobodyPolls) {
  ASSERT_EQ(look(), readiness::watched);
  parking_.note_rest(false);
  EXPECT_FALSE(parking_.rests_without_limit()) << "it looks after what is in flight";
  parking_.note_rest(true);
  EXPECT_TRUE(parking_.rests_without_limit());
  parking_.disarm();
  EXPECT_FALSE(parking_.rests_without_limit());
}

TEST_F(LaneParking, APollOfALaneThatNobodyReliesOnTellsNobody) {
  parking_.disarm();
  EXPECT_EQ(alarm_.soon, 0);
}

TEST_F(LaneParking, AThreadThatWakesUpEndsTheRestThatReliedOnIt) {
  parking_.begin_sleep();
  ASSERT_EQ(look(), readiness::covered);
  parking_.end_sleep();
  EXPECT_EQ(alarm_.soon, 1);
}

TEST_F(LaneParking, HasNoBellWhereAnExecutorLooksAfterTheLane) {
  EXPECT_EQ(parking_.bell(), -1);
}

TEST_F(LaneParkingInline, APollRingsForThoseAsleep) {
  parking_.begin_sleep();
  EXPECT_FALSE(rung());
  parking_.disarm();
  EXPECT_TRUE(rung());
}

TEST_F(LaneParkingInline, TheBellIsClearedForTheNextSleep) {
  parking_.begin_sleep();
  parking_.disarm();
  parking_.begin_sleep();
  EXPECT_FALSE(rung());
}

}  // namespace
}  // namespace heddle::engine
