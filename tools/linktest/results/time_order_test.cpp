// SPDX-License-Identifier: BSD-3-Clause
// time_order_test.cpp - the order of times that nobody keeps is that of times that are kept.
#include "linktest/results/time_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace heddle::linktest {
namespace {

constexpr std::uint64_t size_bytes = 1000;

time_order order_of(const std::vector<float>& times) {
  return time_order::of([&times](const auto& look) {
    for (const float time : times) look(time);
  });
}

void expect_same(const spread& found, const spread& wanted) {
  EXPECT_EQ(found.min, wanted.min);
  EXPECT_EQ(found.median, wanted.median);
  EXPECT_EQ(found.max, wanted.max);
}

void expect_order_of(const std::vector<float>& times) {
  std::vector<double> kept, rates;
  for (const float time : times) {
    kept.push_back(static_cast<double>(time));
    rates.push_back(bytes_per_second(kernel::bi, size_bytes, kept.back()));
  }
  const time_order found = order_of(times);
  expect_same(found.times(), spread_of(kept));
  expect_same(found.rates(kernel::bi, size_bytes), spread_of(rates));
}

TEST(TimeOrder, IsExactForAnyNumberOfTimesOfAnySize) {
  std::mt19937 random(1);
  std::lognormal_distribution<float> wide(-12, 4), narrow(-12, 1e-5F);
  for (const std::size_t n : {1U, 2U, 3U, 10U, 1001U, 20'000U}) {
    for (auto* const like : {&wide, &narrow}) {
      std::vector<float> times;
      for (std::size_t i = 0; i < n; ++i) times.push_back((*like)(random));
      expect_order_of(times);
    }
  }
}

TEST(TimeOrder, HoldsForEqualTimesAndForTwoThatAreFarApart) {
  expect_order_of(std::vector<float>(7, 1e-6F));
  expect_order_of({1e-6F, 1e-6F, 3.0F, 3.0F});
  expect_order_of({std::numeric_limits<float>::min(), std::numeric_limits<float>::max()});
}

TEST(TimeOrder, LeavesOutWhatIsNoNumberAndKnowsNothingOfNoTimes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(order_of({nan, 2, nan, 4}).count(), 2U);
  EXPECT_EQ(order_of({nan, 2, nan, 4}).times().median, 3);
  EXPECT_EQ(order_of({nan}).count(), 0U);
  EXPECT_TRUE(std::isnan(order_of({}).times().median));
  EXPECT_TRUE(std::isnan(order_of({}).rates(kernel::semi, size_bytes).max));
}

}  // namespace
}  // namespace heddle::linktest
