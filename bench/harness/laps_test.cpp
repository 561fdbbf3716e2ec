// SPDX-License-Identifier: BSD-3-Clause
// laps_test.cpp - seconds per operation from made-up laps.
#include "harness/laps.h"

#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;

lap_times lap(std::chrono::milliseconds start, std::chrono::milliseconds end) {
  const std::chrono::steady_clock::time_point zero{};
  return {zero + start, zero + end};
}

TEST(Laps, LastFromTheFirstStartToTheLastEnd) {
  EXPECT_DOUBLE_EQ(elapsed({lap(10ms, 50ms), lap(20ms, 90ms), lap(5ms, 30ms)}), 0.085);
}

TEST(Laps, OfARateCountAllThreadsInTheTimeTheyTookTogether) {
  const spec s{.what = kind::rate, .op = operation::put};
  EXPECT_DOUBLE_EQ(seconds_per_op(s, {lap(0ms, 100ms), lap(100ms, 200ms)}, 10), 0.01);
}

TEST(Laps, OfALatencyAreAveragedAndHalvedForPingPongs) {
  const std::vector<lap_times> laps{lap(0ms, 100ms), lap(0ms, 300ms)};
  EXPECT_DOUBLE_EQ(seconds_per_op({.what = kind::latency, .op = operation::tag}, laps, 10), 0.01);
  EXPECT_DOUBLE_EQ(seconds_per_op({.what = kind::latency, .op = operation::get}, laps, 10), 0.02);
}

}  // namespace
}  // namespace heddle::bench
