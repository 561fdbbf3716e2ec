// SPDX-License-Identifier: BSD-3-Clause
// schedule_test.cpp - the schedule covers every pair once, for even, odd and very large numbers.
#include "linktest/plan/schedule.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace heddle::linktest {
namespace {

void expect_a_matching(const schedule& plan, std::int64_t n, std::int64_t step) {
  std::int64_t idlers = 0;
  for (std::int64_t r = 0; r < n; ++r) {
    const std::int64_t p = plan.partner(r, step);
    if (p == schedule::idle) {
      ++idlers;
      continue;
    }
    ASSERT_GE(p, 0);
    ASSERT_LT(p, n);
    ASSERT_NE(p, r);
    ASSERT_EQ(plan.partner(p, step), r) << "n " << n << " step " << step;
    ASSERT_NE(starts_first(r, p), starts_first(p, r));
  }
  ASSERT_EQ(idlers, n % 2);
}

TEST(Schedule, MeetsEveryPairExactlyOnceForTwoToSixtyFourRanks) {
  for (std::int64_t n = 2; n <= 64; ++n) {
    const schedule plan(n);
    ASSERT_EQ(plan.steps(), n % 2 == 0 ? n - 1 : n);
    std::set<std::pair<std::int64_t, std::int64_t>> met;
    for (std::int64_t s = 0; s < plan.steps(); ++s) {
      expect_a_matching(plan, n, s);
      for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t p = plan.partner(r, s);
        if (p > r) {
          ASSERT_TRUE(met.emplace(r, p).second) << "met twice";
        }
      }
    }
    ASSERT_EQ(static_cast<std::int64_t>(met.size()), n * (n - 1) / 2);
  }
}

TEST(Schedule, MatchesAMillionRanksInAnyStepOfBothParities) {
  for (const std::int64_t n : {1'800'000, 1'799'999}) {
    const schedule plan(n);
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{777'777}, plan.steps() - 1})
      expect_a_matching(plan, n, step);
  }
}

TEST(Schedule, GivesOneRankOfManyADifferentPartnerInEveryStep) {
  const std::int64_t n = 100'000;
  const schedule plan(n);
  for (const std::int64_t r : {std::int64_t{0}, std::int64_t{4711}, n - 1}) {
    std::set<std::int64_t> partners;
    for (std::int64_t s = 0; s < plan.steps(); ++s) partners.insert(plan.partner(r, s));
    EXPECT_EQ(static_cast<std::int64_t>(partners.size()), n - 1);
  }
}

TEST(Schedule, HasNoStepForALoneRank) {
  EXPECT_EQ(schedule(1).steps(), 0);
  EXPECT_EQ(schedule(1).partner(0, 0), schedule::idle);
}

TEST(Schedule, LetsEachRankStartAboutAsOftenAsItFollows) {
  const std::int64_t n = 64;
  const schedule plan(n);
  for (std::int64_t r = 0; r < n; ++r) {
    std::int64_t starts = 0;
    for (std::int64_t s = 0; s < plan.steps(); ++s)
      starts += starts_first(r, plan.partner(r, s)) ? 1 : 0;
    EXPECT_GE(starts, 31);
    EXPECT_LE(starts, 32);
  }
}

}  // namespace
}  // namespace heddle::linktest
