// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wait_habit.h"

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

constexpr std::uint64_t left_at = 1'000'000, soon = left_at + 1,
                        late = left_at + wait_habit::at_once_ns;

void wait_behind_a_transfer(wait_habit& h, std::uint64_t when) {
  h.leave(left_at);
  h.wait(when);
}

TEST(WaitHabit, IsBelievedAfterThreeWaitsAtOnce) {
  wait_habit h;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(h.waits_at_once());
    wait_behind_a_transfer(h, soon);
  }
  EXPECT_TRUE(h.waits_at_once());
}

TEST(WaitHabit, IsForgottenWithTheFirstLateWait) {
  wait_habit h;
  for (int i = 0; i < 4; ++i) wait_behind_a_transfer(h, soon);
  wait_behind_a_transfer(h, late);
  EXPECT_FALSE(h.waits_at_once());
}

TEST(WaitHabit, TellsHowLongTheProgramHasComputed) {
  wait_habit h;
  h.leave(left_at);
  EXPECT_EQ(h.wait(left_at + 500), 500u);
}

TEST(WaitHabit, KnowsOnlyTheFirstWaitBehindATransfer) {
  wait_habit h;
  EXPECT_FALSE(h.has_left());
  h.leave(left_at);
  EXPECT_TRUE(h.has_left());
  h.wait(soon);
  EXPECT_FALSE(h.has_left());
}

}  // namespace
}  // namespace heddle::engine
