// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/clock_cost.h"

#include <gtest/gtest.h>

namespace heddle::linktest {
namespace {

TEST(ClockCost, IsKnownAndNotFinerThanTheClockTells) {
  const clock_facts facts = look_at_clock();
  EXPECT_GT(facts.look_s, 0);
  EXPECT_GT(facts.resolution_s, 0);
}

}  // namespace
}  // namespace heddle::linktest
