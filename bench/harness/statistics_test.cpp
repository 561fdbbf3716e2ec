// SPDX-License-Identifier: BSD-3-Clause
// statistics_test.cpp - the order statistics against tables and by hand.
#include "harness/statistics.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace heddle::bench {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> samples(static_cast<std::size_t>(n));
  std::iota(samples.rbegin(), samples.rend(), 1.0);  // descending, so that sorting matters
  return samples;
}

TEST(Median, IsTheMiddleOfAnOddNumberAndTheMeanOfTheMiddleTwoOfAnEvenOne) {
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({10, 1, 2, 4}), 3);
  EXPECT_EQ(median({7}), 7);
}

TEST(Percentile, IsTheSmallestSampleThatEnoughOthersDoNotExceed) {
  const struct {
    int samples;
    double share, found;
  } table[]{{100, 0.99, 99}, {101, 0.99, 100}, {10, 0.99, 10},
            {10, 0.5, 5},    {10, 0, 1},       {10, 1, 10}};
  for (const auto& [samples, share, found] : table)
    EXPECT_EQ(percentile(one_to(samples), share), found) << samples << ' ' << share;
}

// Ranks from a table of the sign test at 95 %; of fewer than 6 samples the whole range.
TEST(MedianInterval, HasTheRanksOfTheSignTest) {
  const struct {
    int samples;
    double low, high;
  } table[]{{5, 1, 5},   {6, 1, 6},   {8, 1, 8},     {9, 2, 8},           {11, 2, 10},
            {12, 3, 10}, {20, 6, 15}, {100, 40, 61}, {10'000, 4902, 5099}};
  for (const auto& [samples, low, high] : table) {
    const interval ci = summarize(one_to(samples)).ci95;
    EXPECT_EQ(ci.low, low) << samples;
    EXPECT_EQ(ci.high, high) << samples;
  }
}

TEST(Summary, GathersAllOfThem) {
  const summary s = summarize(one_to(9));
  EXPECT_EQ(s.count, 9u);
  EXPECT_EQ(s.median, 5);
  EXPECT_EQ(s.p99, 9);
  EXPECT_EQ(s.minimum, 1);
  EXPECT_EQ(s.maximum, 9);
}

TEST(OverlapRatio, IsTheHiddenShareOfTheShorterOne) {
  EXPECT_DOUBLE_EQ(overlap_ratio(2, 10, 10), 1);    // the transfer is hidden wholly
  EXPECT_DOUBLE_EQ(overlap_ratio(2, 10, 12), 0);    // one after the other
  EXPECT_DOUBLE_EQ(overlap_ratio(10, 2, 11), 0.5);  // half of the computing is hidden
  EXPECT_DOUBLE_EQ(overlap_ratio(2, 10, 13), -0.5);
  EXPECT_DOUBLE_EQ(overlap_ratio(2, 0, 2), 0);
}

TEST(StudentT, HasTheQuantilesOfTheTables) {
  const struct {
    double share;
    int freedom;
    double quantile;
  } table[]{{0.975, 1, 12.7062},        {0.975, 2, 4.30265},  {0.975, 4, 2.77645},
            {0.975, 31, 2.03951},       {0.995, 10, 3.16927}, {0.95, 30, 1.69726},
            {0.975, 1'000'000, 1.95997}};
  for (const auto& [share, freedom, quantile] : table)
    EXPECT_NEAR(student_t_quantile(share, freedom), quantile, 1e-4) << freedom;
}

TEST(EstimateMean, HasTheIntervalOfStudentsTOrOfOneSampleNone) {
  const mean_estimate e = estimate_mean({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(e.mean, 3);
  EXPECT_NEAR(e.ci95.low, 3 - 1.96324, 1e-4);
  EXPECT_NEAR(e.ci95.high, 3 + 1.96324, 1e-4);
  EXPECT_EQ(estimate_mean({7}).ci95.low, 7);
}

// By hand: of the 252 ways to choose 5 of 10 ranks two lie as far apart as 1 to 5 and 6 to 10.
TEST(RankSum, OfSeparateSetsIsTheExactProbabilityAndOfMixedOrEqualOnesNearOne) {
  EXPECT_NEAR(rank_sum_probability({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}), 2.0 / 252, 1e-12);
  EXPECT_NEAR(rank_sum_probability({1, 2, 3}, {4, 5, 6}), 2.0 / 20, 1e-12);
  EXPECT_GT(rank_sum_probability({1, 4, 5, 8}, {2, 3, 6, 7}), 0.9);
  EXPECT_DOUBLE_EQ(rank_sum_probability({1, 1, 1}, {1, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(rank_sum_probability({}, {1, 2}), 1);
}

/// Of so many samples and as many that are larger by `more`.
double probability_of_shift(int samples, int more) {
  std::vector<double> one, other;
  for (int i = 0; i < samples; ++i) {
    one.push_back(2 * i);
    other.push_back(2 * i + 1 + 2 * more);
  }
  return rank_sum_probability(one, other);
}

TEST(RankSum, OfManySamplesIsTheNormalApproximation) {
  EXPECT_NEAR(probability_of_shift(51, 10), probability_of_shift(50, 10), 0.01);
  EXPECT_LT(probability_of_shift(600, 600), 1e-6);
  EXPECT_GT(probability_of_shift(600, 0), 0.9);
  EXPECT_DOUBLE_EQ(rank_sum_probability(std::vector<double>(600, 1), std::vector<double>(600, 1)),
                   1);
}

}  // namespace
}  // namespace heddle::bench
