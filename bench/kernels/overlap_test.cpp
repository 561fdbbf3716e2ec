// SPDX-License-Identifier: BSD-3-Clause
// overlap_test.cpp - what a pass calls, in which order, and which side computes.
#include "kernels/overlap.h"

#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

TEST(OverlapPass, PreparesPostsComputesAndWaitsForEveryMessage) {
  std::string calls;
  const side_times t =
      overlap_pass({[&] { calls += 'r'; }, [&] { calls += 'p'; }, [&] { calls += 'w'; }}, 3, 1e-4);
  EXPECT_EQ(calls, "rpwrpwrpw");
  EXPECT_GE(t.compute, 1e-4);
  EXPECT_GE(t.total, t.compute);
}

spec of(std::chrono::milliseconds time, std::uint64_t bytes, double us, computing who) {
  spec s{.what = kind::overlap, .op = operation::tag, .bytes = bytes, .time = time};
  s.who = who;
  s.compute_us = us;
  return s;
}

TEST(OverlapPass, HasEnoughMessagesForAMedianHoweverLargeTheyAre) {
  using std::chrono::milliseconds;
  EXPECT_EQ(overlap_iterations(of(milliseconds(1), 1u << 30, 1e6, {})), 5u);
  EXPECT_NEAR(double(overlap_iterations(of(milliseconds(200), 0, 80, {}))), 1000, 1);
}

/// Half of a transfer of 100 us hides behind 100 us of computing; and nothing of it.
constexpr side_round half{{1e-6, 0, 99e-6, 100e-6}, {1e-6, 100e-6, 49e-6, 150e-6}};
constexpr side_round none{{1e-6, 0, 99e-6, 100e-6}, {1e-6, 100e-6, 99e-6, 200e-6}};

TEST(OverlapFigures, AreThoseOfTheSidesThatCompute) {
  const std::vector<double> expected{150, 0.5, 100, 1, 100, 49};
  const spec receiver = of({}, 8, 100, computing::receiver);
  const auto found = overlap_figures(receiver, none, half);
  ASSERT_EQ(found.size(), metrics_of(receiver).size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
  const spec both = of({}, 8, 100, computing::both);
  const auto sides = overlap_figures(both, none, half);
  ASSERT_EQ(sides.size(), metrics_of(both).size());
  EXPECT_NEAR(sides[0], 200, 1e-9);
  EXPECT_NEAR(sides[1], 0, 1e-9);
  EXPECT_NEAR(sides[6], 150, 1e-9);
}

}  // namespace
}  // namespace heddle::bench
