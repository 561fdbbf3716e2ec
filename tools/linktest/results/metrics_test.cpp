// SPDX-License-Identifier: BSD-3-Clause
// metrics_test.cpp - the formulas on synthetic times, medians of both parities, and units.
#include "linktest/results/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace heddle::linktest {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Metrics, DividesARoundTripByTwiceTheMessagesForSemiAndBi) {
  EXPECT_DOUBLE_EQ(seconds_per_message(kernel::semi, 1.0, 10), 0.05);
  EXPECT_DOUBLE_EQ(seconds_per_message(kernel::bi, 1.0, 10), 0.05);
}

TEST(Metrics, DividesAOneWayStreamByTheMessagesForUni) {
  EXPECT_DOUBLE_EQ(seconds_per_message(kernel::uni, 1.0, 10), 0.1);
}

TEST(Metrics, CountsBothDirectionsOnlyForBi) {
  EXPECT_DOUBLE_EQ(bytes_per_second(kernel::semi, 1000, 1e-6), 1e9);
  EXPECT_DOUBLE_EQ(bytes_per_second(kernel::uni, 1000, 1e-6), 1e9);
  EXPECT_DOUBLE_EQ(bytes_per_second(kernel::bi, 1000, 1e-6), 2e9);
}

TEST(Metrics, AgreesWithAPublishedLinkTestLine) {
  // 128 KiB bidirectional in 11.68455 us is printed there as 20.8943 GiB/s.
  EXPECT_NEAR(bytes_per_second(kernel::bi, 128 * 1024, 11.68455e-6) / (1024.0 * 1024 * 1024),
              20.8943, 5e-5);
}

TEST(Metrics, KnowsNoBandwidthWithoutATime) {
  EXPECT_TRUE(std::isnan(bytes_per_second(kernel::semi, 1, nan)));
  EXPECT_TRUE(std::isnan(bytes_per_second(kernel::semi, 1, 0)));
}

TEST(Metrics, TakesTheMiddleOfOddAndTheMeanOfTheMiddleTwoOfEvenSets) {
  const spread odd = spread_of(std::vector<double>{5, 1, 3});
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.max, 5);
  EXPECT_EQ(spread_of(std::vector<double>{4, 1, 3, 10}).median, 3.5);
}

TEST(Metrics, LeavesOutWhatWasNotMeasured) {
  const spread some = spread_of(std::vector<double>{nan, 2, nan, 4});
  EXPECT_EQ(some.min, 2);
  EXPECT_EQ(some.median, 3);
  EXPECT_EQ(some.max, 4);
  EXPECT_TRUE(std::isnan(spread_of(std::vector<double>{nan}).median));
}

std::vector<float> one_to(int n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST(Sketch, KnowsTheMiddleTheTailsAndTheEnds) {
  const sketch s = sketch_of(one_to(200));
  EXPECT_EQ(s.n, 200u);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.median, 100.5f);
  EXPECT_EQ(s.p90, 180);
  EXPECT_EQ(s.p99, 198);
  EXPECT_EQ(s.max, 200);
  EXPECT_EQ(s.mad, 50);
}

TEST(Sketch, EnclosesTheMedianByOrderStatistics) {
  // Tables of the sign test: 6 values need both ends, 10 the 2nd and 9th, 100 the 40th and 61st.
  EXPECT_EQ(sketch_of(one_to(6)).ci_low, 1);
  EXPECT_EQ(sketch_of(one_to(6)).ci_high, 6);
  EXPECT_EQ(sketch_of(one_to(10)).ci_low, 2);
  EXPECT_EQ(sketch_of(one_to(10)).ci_high, 9);
  EXPECT_EQ(sketch_of(one_to(100)).ci_low, 40);
  EXPECT_EQ(sketch_of(one_to(100)).ci_high, 61);
  EXPECT_NEAR(sketch_of(one_to(501)).ci_low, 229, 1);
}

TEST(Sketch, HasNoIntervalOfFiveValuesAndNothingOfNone) {
  EXPECT_TRUE(std::isnan(sketch_of(one_to(5)).ci_low));
  EXPECT_EQ(sketch_of({}).n, 0u);
  EXPECT_TRUE(std::isnan(sketch_of(std::vector<float>{std::nanf("")}).median));
}

TEST(Sketch, DoesNotLetOneLateMessageMoveTheMedian) {
  std::vector<float> values(99, 1.0f);
  values.push_back(1000);
  const sketch s = sketch_of(values);
  EXPECT_EQ(s.median, 1);
  EXPECT_EQ(s.p99, 1);
  EXPECT_EQ(s.max, 1000);
  EXPECT_EQ(s.mad, 0);
}

TEST(Metrics, WritesThreeDigitsAndTheFittingUnit) {
  EXPECT_EQ(format_seconds(870e-9), "870 ns");
  EXPECT_EQ(format_seconds(1.234e-6), "1.23 us");
  EXPECT_EQ(format_seconds(45.6e-3), "45.6 ms");
  EXPECT_EQ(format_seconds(999.6e-9), "1.00 us");
  EXPECT_EQ(format_seconds(nan), "-");
  EXPECT_EQ(format_bandwidth(12.34e9), "12.3 GB/s");
  EXPECT_EQ(format_bandwidth(1.5e6), "1.50 MB/s");
}

TEST(Metrics, WritesSizesInPowersOf1024) {
  EXPECT_EQ(format_size(8), "8 B");
  EXPECT_EQ(format_size(128 * 1024), "128 KiB");
  EXPECT_EQ(format_size(1536 * 1024), "1.5 MiB");
  EXPECT_EQ(format_size(std::uint64_t{3} << 30), "3 GiB");
}

}  // namespace
}  // namespace heddle::linktest
