// metrics_test.cpp - the formulas on synthetic times, medians of both parities, and units.
#include "linktest/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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
