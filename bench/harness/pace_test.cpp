// SPDX-License-Identifier: BSD-3-Clause
// pace_test.cpp - the sequence of runs for made-up speeds, and seconds per operation from made-up
// laps.
#include "harness/pace.h"

#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;

lap_times lap(std::chrono::milliseconds start, std::chrono::milliseconds end) {
  const std::chrono::steady_clock::time_point zero{};
  return {zero + start, zero + end};
}

TEST(Laps, CountTogetherForRatesAndAsAHalvedMeanForPingPongs) {
  EXPECT_DOUBLE_EQ(elapsed({lap(10ms, 50ms), lap(20ms, 90ms), lap(5ms, 30ms)}), 0.085);
  EXPECT_DOUBLE_EQ(seconds_per_op({.what = kind::rate, .op = operation::put},
                                  {lap(0ms, 100ms), lap(100ms, 200ms)}, 10),
                   0.01);
  const std::vector<lap_times> laps{lap(0ms, 100ms), lap(0ms, 300ms)};
  EXPECT_DOUBLE_EQ(seconds_per_op({.what = kind::latency, .op = operation::tag}, laps, 10), 0.01);
  EXPECT_DOUBLE_EQ(seconds_per_op({.what = kind::latency, .op = operation::get}, laps, 10), 0.02);
}

spec spec_of(kind what) {
  return {.what = what, .time = std::chrono::milliseconds(100)};
}

/// Ends runs as operations of `per_op` seconds would, until the round is over; the number of runs.
int play_round(pacer& p, double per_op) {
  p.begin_round();
  int runs = 0;
  for (; p.count() > 0; ++runs) p.end_run(static_cast<double>(p.count()) * per_op, per_op);
  return runs;
}

/// Operations of the first run of a round.
double next_count(pacer& p) {
  p.begin_round();
  return static_cast<double>(p.count());
}

TEST(Pacer, LearnsTheSpeedOnceFillsTheTimeAndFollowsAChange) {
  pacer p(spec_of(kind::rate));
  EXPECT_GT(play_round(p, 1e-6), 2);  // learning
  EXPECT_EQ(play_round(p, 1e-6), 1);
  EXPECT_DOUBLE_EQ(p.result(), 1e-6);
  EXPECT_NEAR(next_count(p), 1e5, 1);
  play_round(p, 1e-5);
  EXPECT_NEAR(next_count(p), 1e4, 1);
  play_round(p, 10.0);
  EXPECT_EQ(next_count(p), 16) << "a few, however slow";
}

TEST(Pacer, RepeatsATimedRunThatWasFarTooShort) {
  pacer p(spec_of(kind::rate));
  p.begin_round();
  p.end_run(0.1, 1e-2);  // 16 operations, held up for as long as the round should take
  EXPECT_EQ(play_round(p, 1e-6), 2);
  EXPECT_DOUBLE_EQ(p.result(), 1e-6);
  EXPECT_NEAR(next_count(p), 1e5, 1);
}

TEST(Pacer, TakesAShortRunWhenRepeatingDoesNotHelp) {
  pacer p(spec_of(kind::rate));
  play_round(p, 1e-6);
  p.begin_round();
  int runs = 0;
  for (; p.count() > 0 && runs < 100; ++runs) p.end_run(0.01, 1e-6);
  EXPECT_LT(runs, 10);
}

TEST(Pacer, StampsASecondShorterRunForLatenciesOnly) {
  pacer p(spec_of(kind::latency));
  play_round(p, 1e-7);
  p.begin_round();
  EXPECT_FALSE(p.stamped());
  p.end_run(0.1, 1e-7);
  EXPECT_TRUE(p.stamped());
  EXPECT_EQ(p.count(), 20'000u);
  p.end_run(99, 99);
  EXPECT_EQ(p.count(), 0u);
  EXPECT_DOUBLE_EQ(p.result(), 1e-7);
}

TEST(Pacer, MakesNoMoreThanItMayAndLearnsNothingWhereThereIsNoChoice) {
  pacer p(spec_of(kind::gups), 1, 64);
  play_round(p, 1e-9);
  EXPECT_EQ(play_round(p, 1e-9), 1) << "not repeated, though it is short";
  EXPECT_EQ(next_count(p), 64);
  pacer fixed(spec_of(kind::gups), 1024, 1024);
  EXPECT_EQ(play_round(fixed, 1e-9), 1);
  EXPECT_EQ(next_count(fixed), 1024);
}

}  // namespace
}  // namespace heddle::bench
