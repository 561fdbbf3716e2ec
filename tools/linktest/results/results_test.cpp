// SPDX-License-Identifier: BSD-3-Clause
// results_test.cpp - rows become matrices, summaries and the list of slowest pairs.
#include "linktest/results/results.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <vector>

namespace heddle::linktest {
namespace {

/// As far as a float tells.
bool nearly(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::abs(b);
}

/// 3 ranks, one size of 1000 bytes; the time from r to p is 10 r + p microseconds.
results sample() {
  results all(3, kernel::semi, {1000});
  for (int r = 0; r < 3; ++r) {
    row mine(1, 3, 3);
    for (int p = 0; p < 3; ++p) {
      if (p == r) continue;
      const double t = (10 * r + p) * 1e-6;
      for (const double factor : {2.0, 1.0, 0.5}) mine.add_time(0, p, t * factor);
    }
    EXPECT_TRUE(all.set_row(r, mine.records()));
  }
  return all;
}

TEST(Results, TakeMemoryByTheirPairsAndNotByTheSquareOfTheRanks) {
  constexpr std::uint64_t ranks = 1'800'000, pairs = 32 * ranks;
  EXPECT_LE(results::bytes(ranks, pairs, 1), 50 * pairs);
  results all(ranks, kernel::semi, {8});  // their square would be 142 TB
  row last(1, ranks, 1);
  last.add_time(0, 0, 1e-6);
  ASSERT_TRUE(all.set_row(ranks - 1, last.records()));
  EXPECT_EQ(all.at(0, ranks - 1, 0).state, pair_state::measured);
  EXPECT_EQ(all.at(0, 0, ranks - 1).state, pair_state::unmeasured);
  EXPECT_EQ(all.count(pair_state::unmeasured), ranks * (ranks - 1) - 1);
}

/// Of this process, on the heap.
double bytes_in_use() {
  const struct mallinfo2 now = mallinfo2();
  return static_cast<double>(now.uordblks) + static_cast<double>(now.hblkhd);
}

TEST(Results, TakeTheMemoryThatADryRunCountsForAnyNumberOfRanks) {
  constexpr std::size_t sizes = 2, times = 7, partners = 32;
  constexpr int ranks = 100'000;
  const double before = bytes_in_use();
  std::vector<row> rows(1, row(sizes, ranks, times));
  const std::vector<float> measured(times, 1e-6F);
  for (std::size_t s = 0; s < sizes; ++s)
    for (int p = 1; p <= static_cast<int>(partners); ++p)
      rows.front().set_times(s, 1000 * p, measured, {});
  const double of_row = bytes_in_use() - before;
  if (of_row <= 0) GTEST_SKIP() << "this allocator does not count";
  const auto counted = static_cast<double>(partners * row::bytes_of_peer(sizes, times));
  EXPECT_GT(of_row, 0.9 * counted);
  EXPECT_LT(of_row, 1.5 * counted) << "the allocator's own bytes included";
  const double without = bytes_in_use();
  results all(ranks, kernel::semi, {8, 1000});
  for (int r = 0; r < 1000; ++r) ASSERT_TRUE(all.set_row(r, rows.front().records()));
  const double of_all = bytes_in_use() - without;
  const auto expected = static_cast<double>(results::bytes(ranks, 1000 * partners, sizes));
  EXPECT_GT(of_all, 0.9 * expected);
  EXPECT_LT(of_all, 1.1 * expected);
}

TEST(Results, ThatAreKeptInAFileTakeNoMemoryForTheirPairs) {
  constexpr int ranks = 1000, partners = 500;
  std::vector<row_record> records;
  for (int p = 0; p < partners; ++p) records.push_back({p, 0, {{}, pair_state::measured, {}}});
  const double before = bytes_in_use();
  results all(ranks, kernel::semi, {8});
  all.keep_rows_in(::testing::TempDir());
  for (int r = 0; r < ranks; ++r) ASSERT_TRUE(all.set_row(r, records));
  EXPECT_EQ(all.count(pair_state::measured), std::uint64_t{ranks} * partners - partners);
  const auto of_pairs = static_cast<double>(results::bytes(ranks, ranks * partners, 1));
  EXPECT_LT(bytes_in_use() - before, 0.02 * of_pairs);
}

TEST(Results, OfARankThatGathersNoneTakeNoMemoryAndKnowNothing) {
  const double before = bytes_in_use();
  const results none(1'000'000, kernel::semi, {8});
  EXPECT_LT(bytes_in_use() - before, 10'000);
  EXPECT_EQ(none.at(0, 999'999, 0).state, pair_state::unmeasured);
  EXPECT_EQ(none.count(pair_state::unmeasured), std::uint64_t{1'000'000} * 999'999);
}

TEST(Results, KeepsMinimumMedianAndMaximumOfTheRepetitions) {
  const results all = sample();
  EXPECT_PRED2(nearly, all.at(0, 2, 1).time.min, 10.5e-6);
  EXPECT_PRED2(nearly, all.at(0, 2, 1).time.median, 21e-6);
  EXPECT_PRED2(nearly, all.at(0, 2, 1).time.max, 42e-6);
}

TEST(Results, GivesEveryMetricAsAMatrixWithNaNOnTheDiagonal) {
  const results all = sample();
  for (const metric m : all_metrics) {
    const std::vector<double> values = all.matrix(0, m);
    ASSERT_EQ(values.size(), 9u);
    EXPECT_TRUE(std::isnan(values[0])) << name_of(m);
    const bool interval = m == metric::time_ci_low || m == metric::time_ci_high;
    EXPECT_EQ(std::isnan(values[1]), interval) << name_of(m) << ": three times give no interval";
  }
  EXPECT_EQ(all.matrix(0, metric::samples)[1], 3);
}

TEST(Results, PutsTheInitiatorInTheRowAndNothingOnTheDiagonal) {
  const std::vector<double> m = sample().matrix(0, metric::time_median);
  ASSERT_EQ(m.size(), 9u);
  EXPECT_PRED2(nearly, m[0 * 3 + 2], 2e-6);
  EXPECT_PRED2(nearly, m[2 * 3 + 0], 20e-6);
  for (const std::size_t i : {0u, 4u, 8u}) EXPECT_TRUE(std::isnan(m[i]));
}

TEST(Results, DerivesBandwidthFromTheMedianTime) {
  const std::vector<double> m = sample().matrix(0, metric::bandwidth);
  EXPECT_PRED2(nearly, m[2 * 3 + 0], 1000 / 20e-6);
}

TEST(Results, SummarisesOverAllPairs) {
  const spread s = sample().summary(0, metric::time_median);  // 1 2 10 12 20 21 us
  EXPECT_PRED2(nearly, s.min, 1e-6);
  EXPECT_PRED2(nearly, s.median, 11e-6);
  EXPECT_PRED2(nearly, s.max, 21e-6);
}

TEST(Results, KeepsTheWorstStateOfAPair) {
  row mine(2, 3, 1);
  mine.add_time(0, 1, 1e-6);
  mine.mark(0, 1, pair_state::corrupted);
  mine.add_time(0, 1, 1e-6);
  mine.mark_all_sizes(2, pair_state::lost);
  results all(3, kernel::semi, {1, 2});
  ASSERT_TRUE(all.set_row(0, mine.records()));
  EXPECT_EQ(all.at(0, 0, 1).state, pair_state::corrupted);
  EXPECT_EQ(all.at(0, 0, 2).state, pair_state::lost);
  EXPECT_EQ(all.at(1, 0, 2).state, pair_state::lost);
  EXPECT_EQ(all.count(pair_state::lost), 2u);
  EXPECT_EQ(all.count(pair_state::corrupted), 1u);
  EXPECT_EQ(all.count(pair_state::unmeasured), 9u);
}

TEST(Results, OfASampleMissWhatWasLostAndAllIfThereWasTimeForNothing) {
  results all(3, kernel::semi, {8, 1000});
  EXPECT_EQ(all.missing(), 12u);
  all.set_sample(0);
  EXPECT_EQ(all.missing(), 2u) << "of each size a pair at least";
}

TEST(Results, RefuseARowThatNamesWhatIsNotThereAndPeersOutOfOrder) {
  results all(3, kernel::semi, {1});
  const auto refuses = [&all](int rank, const std::vector<row_record>& records) {
    return !all.set_row(rank, records);
  };
  EXPECT_TRUE(refuses(3, {}));
  EXPECT_TRUE(refuses(0, {{3, 0, {}}}));
  EXPECT_TRUE(refuses(0, {{-1, 0, {}}}));
  EXPECT_TRUE(refuses(0, {{1, 1, {}}}));
  EXPECT_TRUE(refuses(0, {{2, 0, {}}, {1, 0, {}}}));
  EXPECT_FALSE(refuses(0, {{1, 0, {}}, {2, 0, {}}}));
}

}  // namespace
}  // namespace heddle::linktest
