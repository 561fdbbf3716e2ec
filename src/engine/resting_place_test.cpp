// SPDX-License-Identifier: BSD-3-Clause
#include "engine/resting_place.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace heddle::engine {
namespace {

class RestingPlace : public testing::Test {
 protected:
  using by = resting_place::ended_by;
  by rest() { return place_.sleep({}); }
  resting_place place_{0, false};
};

TEST_F(RestingPlace, AWakeEndsTheRestThatHasBegun) {
  place_.wake();
  EXPECT_EQ(place_.rings(), 0u) << "nobody rests";
  place_.begin();
  place_.wake();
  EXPECT_EQ(rest(), by::others);
  EXPECT_EQ(place_.rings(), 1u);
  EXPECT_EQ(place_.wakes(), 1u);
}

TEST_F(RestingPlace, RingsForNobodyWhoStaysUp) {
  place_.begin();
  place_.stay_up();
  place_.wake();
  place_.look_soon();
  EXPECT_EQ(place_.rings(), 0u);
}

TEST_F(RestingPlace, ADeepRestThatIsShortenedEndsWithATick) {
  place_.begin();
  place_.look_soon();
  EXPECT_EQ(rest(), by::tick);
  EXPECT_EQ(place_.ticks(), 1u);
  EXPECT_EQ(place_.wakes() + place_.rings(), 0u);
}

TEST_F(RestingPlace, ADeepRestOfOneThatServesAloneIsOverAtOnce) {
  resting_place alone(0, true);
  alone.begin();
  alone.look_soon();
  EXPECT_EQ(alone.sleep({}), by::others);
  EXPECT_EQ(alone.rings(), 1u);
}

TEST_F(RestingPlace, AShortRestIsOverByTime) {
  place_.begin();
  EXPECT_EQ(place_.sleep({.is_short = true, .timeout_ms = 1}), by::tick);
  EXPECT_EQ(place_.ticks(), 1u);
}

TEST_F(RestingPlace, ABellBesideATickIsHeard) {
  place_.begin();
  place_.interrupt();
  place_.look_soon();
  std::this_thread::sleep_for(std::chrono::milliseconds(3 * place_.tick_ms()));
  EXPECT_EQ(rest(), by::others);
}

TEST_F(RestingPlace, ManyRanksOfACoreLookAsOftenTogetherAsOneDoes) {
  place_.share_core(1);
  EXPECT_EQ(place_.tick_ms(), 1);
  place_.share_core(16);
  EXPECT_EQ(place_.tick_ms(), 16);
}

TEST_F(RestingPlace, ManyRanksOfACoreDoNotKeepAPeerWaitingForLong) {
  place_.share_core(100'000);
  EXPECT_LE(place_.tick_ms(), 100);
}

TEST_F(RestingPlace, AnInterruptEndsTheNextRest) {
  place_.interrupt();
  place_.begin();
  EXPECT_EQ(rest(), by::others);
  EXPECT_EQ(place_.wakes(), 1u);
  EXPECT_EQ(place_.rings(), 0u);
}

}  // namespace
}  // namespace heddle::engine
