// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/pacing.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::linktest {
namespace {

constexpr pace usual{0.02, 50, 1.0};

TEST(Warming, GoesOnWhileTurnsBecomeNotablyFaster) {
  warming w(16);
  EXPECT_FALSE(w.is_steady(100e-6, 1e-6));
  EXPECT_FALSE(w.is_steady(50e-6, 1e-6));
  EXPECT_FALSE(w.is_steady(40e-6, 1e-6));
  EXPECT_TRUE(w.is_steady(38e-6, 1e-6));
}

TEST(Warming, EndsWhenATurnIsSlowerAgain) {
  warming w(16);
  EXPECT_FALSE(w.is_steady(1e-6, 1e-6));
  EXPECT_TRUE(w.is_steady(2e-6, 1e-6));
}

TEST(Warming, EndsAfterSomeTurnsAndAfterSomeTimeInAnyCase) {
  warming by_turns(16), by_time(16), only_one(1);
  double t = 1;
  int turns = 1;
  while (!by_turns.is_steady(t /= 2, 0)) ++turns;
  EXPECT_EQ(turns, 16);
  EXPECT_TRUE(by_time.is_steady(1, 0.1));
  EXPECT_TRUE(only_one.is_steady(1, 0));
}

TEST(Pace, IsEnoughWhenTheMedianIsKnownWellEnough) {
  const std::vector<float> close{1.00f, 1.01f, 1.02f, 1.01f, 1.00f, 1.03f};
  EXPECT_TRUE(is_enough(usual, close, 0));
  EXPECT_FALSE(is_enough({0.001, 50, 1.0}, close, 0));
}

TEST(Pace, IsNotEnoughWithoutAnInterval) {
  EXPECT_FALSE(is_enough(usual, std::vector<float>(5, 1.0f), 0));
  EXPECT_TRUE(is_enough(usual, std::vector<float>(6, 1.0f), 0));
}

TEST(Pace, EndsAtTheMostMeasurementsAndAtTheBudget) {
  const std::vector<float> wild{1, 9, 2, 8, 3, 7, 4};
  EXPECT_FALSE(is_enough(usual, wild, 0));
  EXPECT_TRUE(is_enough({0.02, 7, 1.0}, wild, 0));
  EXPECT_TRUE(is_enough(usual, wild, 1.0));
  EXPECT_TRUE(is_enough({0.02, 1, 1.0}, std::vector<float>{1}, 0));
}

}  // namespace
}  // namespace heddle::linktest
