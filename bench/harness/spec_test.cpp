// SPDX-License-Identifier: BSD-3-Clause
// spec_test.cpp - names, units, lanes and cores of a benchmark.
#include "harness/spec.h"

#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

TEST(Spec, TurnsSecondsIntoTheUnitOfItsMetric) {
  EXPECT_DOUBLE_EQ(figure({.what = kind::latency}, 2e-6), 2);
  EXPECT_DOUBLE_EQ(figure({.what = kind::rate}, 50e-9), 20);
  EXPECT_DOUBLE_EQ(figure({.what = kind::bandwidth, .bytes = 1'000'000}, 100e-6), 10);
}

TEST(Spec, NamesEveryChoiceAsOnTheCommandLineAndWhetherALatencyIsARoundTrip) {
  for (const auto& [name, op] : choices<operation>()) {
    EXPECT_EQ(name_of(op), name);
    const bool there_and_back = op == operation::get || op == operation::fetch_add;
    EXPECT_EQ(metrics_of({.what = kind::latency, .op = op}).front().name,
              there_and_back ? "round-trip" : "one-way");
  }
  for (const auto& [name, k] : choices<kind>()) EXPECT_EQ(name_of(k), name);
  for (const auto& [name, who] : choices<rival>()) EXPECT_EQ(name_of(who), name);
}

TEST(Spec, LetsNeighbouringThreadsShareALane) {
  const struct {
    int threads, lanes;
    std::vector<int> by_thread;
  } table[]{{4, 0, {0, 1, 2, 3}},
            {4, 1, {0, 0, 0, 0}},
            {4, 2, {0, 0, 1, 1}},
            {5, 2, {0, 0, 0, 1, 1}},
            {2, 4, {0, 1}}};
  for (const auto& [threads, lanes, by_thread] : table) {
    std::vector<int> found;
    for (int t = 0; t < threads; ++t)
      found.push_back(lane_index({.threads = threads, .lanes = lanes}, t));
    EXPECT_EQ(found, by_thread) << lanes;
  }
}

TEST(Spec, OnlyTheChosenSidesCompute) {
  for (const bool sends : {true, false}) {
    EXPECT_EQ(computes(computing::sender, sends), sends);
    EXPECT_EQ(computes(computing::receiver, sends), !sends);
    EXPECT_TRUE(computes(computing::both, sends));
  }
}

TEST(Cores, AreNeighboursARanksShareAtMostAndGoRound) {
  const struct {
    std::vector<int> allowed;
    int rank, ranks, threads;
    std::vector<int> cores;
  } table[]{{{2, 3, 6}, 0, 4, 1, {2}},       {{2, 3, 6}, 1, 4, 1, {3}},
            {{2, 3, 6}, 3, 4, 1, {2}},       {{0, 1, 2, 3}, 0, 2, 2, {0, 1}},
            {{0, 1, 2, 3}, 1, 2, 2, {2, 3}}, {{0, 1, 2, 3}, 1, 2, 16, {2, 3}},
            {{5, 7}, 1, 2, 8, {7}}};
  for (const auto& [allowed, rank, ranks, threads, cores] : table)
    EXPECT_EQ(cores_of_rank(allowed, rank, ranks, threads), cores) << rank << ' ' << threads;
}

}  // namespace
}  // namespace heddle::bench
