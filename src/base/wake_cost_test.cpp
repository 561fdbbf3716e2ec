// SPDX-License-Identifier: BSD-3-Clause
// wake_cost_test.cpp - that it is measured once, and what follows from it.
#include "base/wake_cost.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace heddle {
namespace {

TEST(WakeCost, IsMeasuredOnceForAProcess) {
  const std::uint64_t first = wake_cost_ns();
  EXPECT_GT(first, 0u);
  EXPECT_EQ(wake_cost_ns(), first);
}

TEST(WakeCost, LeavesTheCallersAffinityAlone) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  (void)wake_cost_ns();
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(WakeCost, SpinningLastsAsLongAsFourWakesWithinBounds) {
  EXPECT_EQ(spin_budget_ns(25'000), 100'000u);
  EXPECT_EQ(spin_budget_ns(0), 10'000u);
  EXPECT_EQ(spin_budget_ns(4'000'000), 200'000u);
}

}  // namespace
}  // namespace heddle
