// SPDX-License-Identifier: BSD-3-Clause
// spec_test.cpp - units and cores of a benchmark.
#include "harness/spec.h"

#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

TEST(Spec, TurnsSecondsIntoTheUnitOfItsMetric) {
  EXPECT_DOUBLE_EQ(figure({.what = kind::latency}, 2e-6), 2);
  EXPECT_DOUBLE_EQ(figure({.what = kind::rate}, 50e-9), 20);
  EXPECT_DOUBLE_EQ(figure({.what = kind::bandwidth, .bytes = 1'000'000}, 100e-6), 10);
}

TEST(Spec, SaysWhetherALatencyIsARoundTrip) {
  for (const auto& [name, op] : choices<operation>()) {
    const bool there_and_back = op == operation::get || op == operation::fetch_add;
    EXPECT_EQ(metrics_of({.what = kind::latency, .op = op}).front().name,
              there_and_back ? "round-trip" : "one-way");
  }
}

TEST(Spec, NamesEveryOperationAsOnTheCommandLine) {
  for (const auto& [name, op] : choices<operation>()) EXPECT_EQ(name_of(op), name);
  for (const auto& [name, k] : choices<kind>()) EXPECT_EQ(name_of(k), name);
  for (const auto& [name, who] : choices<rival>()) EXPECT_EQ(name_of(who), name);
}

TEST(Spec, LetsNeighbouringThreadsShareALane) {
  const auto indices = [](int threads, int lanes) {
    std::vector<int> all;
    for (int t = 0; t < threads; ++t)
      all.push_back(lane_index({.threads = threads, .lanes = lanes}, t));
    return all;
  };
  EXPECT_EQ(indices(4, 0), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(indices(4, 1), (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(indices(4, 2), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(indices(5, 2), (std::vector<int>{0, 0, 0, 1, 1}));
  EXPECT_EQ(indices(2, 4), (std::vector<int>{0, 1}));
}

TEST(Spec, OnlyTheChosenSidesCompute) {
  EXPECT_TRUE(computes(computing::sender, true));
  EXPECT_FALSE(computes(computing::sender, false));
  EXPECT_TRUE(computes(computing::receiver, false));
  EXPECT_FALSE(computes(computing::receiver, true));
  EXPECT_TRUE(computes(computing::both, true) && computes(computing::both, false));
}

TEST(Cores, AreNeighboursPerRankAndGoRound) {
  const std::vector<int> allowed{2, 3, 6};
  EXPECT_EQ(cores_of_rank(allowed, 0, 4, 1), (std::vector<int>{2}));
  EXPECT_EQ(cores_of_rank(allowed, 1, 4, 1), (std::vector<int>{3}));
  EXPECT_EQ(cores_of_rank(allowed, 3, 4, 1), (std::vector<int>{2}));
}

TEST(Cores, AreARanksShareHoweverManyThreadsItHas) {
  const std::vector<int> allowed{0, 1, 2, 3};
  EXPECT_EQ(cores_of_rank(allowed, 0, 2, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(cores_of_rank(allowed, 1, 2, 2), (std::vector<int>{2, 3}));
  EXPECT_EQ(cores_of_rank(allowed, 1, 2, 16), (std::vector<int>{2, 3}));
  EXPECT_EQ(cores_of_rank({5, 7}, 1, 2, 8), (std::vector<int>{7}));
}

}  // namespace
}  // namespace heddle::bench
