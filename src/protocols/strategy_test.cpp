// SPDX-License-Identifier: BSD-3-Clause
// strategy_test.cpp - how stripes are shared among rails of known and unknown speed.
#include "protocols/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace heddle::protocols {
namespace {

constexpr std::uint64_t stripe = 1'000'000;

/// Rails that take so many nanoseconds for a byte, on a clock of their own.
struct rails {
  explicit rails(std::vector<double> speeds)
      : ns_per_byte(std::move(speeds)), plan(ns_per_byte.size()) {}

  struct flight {
    std::size_t rail;
    std::uint64_t bytes, begun, ends;
  };
  /// Sends so many stripes' bytes as soon as the strategy has a rail for them; returns how long it
  /// takes until all are there.
  std::uint64_t send(std::uint64_t stripes) {
    const std::uint64_t began = now;
    for (std::uint64_t left = stripes * stripe; left != 0 || !flights.empty();) {
      const strategy::share next =
          left != 0 ? plan.choose(std::min(left, stripe), 0) : strategy::share{};
      if (next.bytes == 0) {
        end_next();
        continue;
      }
      begin(next);
      left -= next.bytes;
    }
    return now - began;
  }
  void begin(strategy::share next) {
    std::uint64_t free = now;
    for (const flight& f : flights)
      if (f.rail == next.rail) free = std::max(free, f.ends);
    const double took = ns_per_byte[next.rail] * static_cast<double>(next.bytes);
    const std::uint64_t ends = std::max(now + latency_ns, free) + static_cast<std::uint64_t>(took);
    flights.push_back({next.rail, next.bytes, now, ends});
    plan.begun(next.rail, next.bytes);
    taken[next.rail] += static_cast<double>(next.bytes) / stripe;
  }
  void end_next() {
    auto next = flights.begin();
    for (auto f = flights.begin(); f != flights.end(); ++f)
      if (f->ends < next->ends) next = f;
    const flight ended = *next;
    flights.erase(next);
    now = ended.ends;
    plan.ended(ended.rail, ended.bytes, ended.begun, now);
  }

  std::vector<double> ns_per_byte;
  std::uint64_t latency_ns = 0;
  earliest_end plan;
  std::deque<flight> flights;
  std::uint64_t now = 1;
  std::vector<double> taken = std::vector<double>(8);  // stripes
};

TEST(EarliestEnd, EqualRailsShareEvenly) {
  rails two({1, 1});
  two.send(100);
  EXPECT_NEAR(two.taken[0], 50, 2);
  EXPECT_NEAR(two.taken[1], 50, 2);
}

TEST(EarliestEnd, ASomewhatSlowerRailTakesItsShare) {
  rails two({1, 2});
  two.send(300);
  EXPECT_NEAR(two.taken[1], 100, 10);
}

TEST(EarliestEnd, AMuchSlowerRailIsTriedWithLittleAndLeftAlone) {
  rails two({1, 10});
  two.send(1000);
  EXPECT_LT(two.taken[1], 2);
}

TEST(EarliestEnd, TheFirstRailIsLeftAloneWhenItIsTheSlowOne) {
  rails two({10, 1});
  two.send(100);
  EXPECT_LT(two.taken[0], 2);
}

TEST(EarliestEnd, ALongTransferEndsHardlyLaterThanOverTheGoodRailAlone) {
  for (const double slow : {1.5, 3.0, 4.0, 10.0, 87.0}) {
    rails two({1, slow});
    two.send(8);  // finds out
    EXPECT_LE(two.send(200), 200 * stripe * 105 / 100) << slow;
  }
}

TEST(EarliestEnd, ARailThatWasMeasuredOnceTooSlowIsBackSoon) {
  rails two({1, 50});
  two.send(2);
  two.ns_per_byte[1] = 1;
  two.send(2 * earliest_end::soon / stripe);
  const double before = two.taken[1];
  two.send(100);
  EXPECT_NEAR(two.taken[1] - before, 50, 3);
}

TEST(EarliestEnd, ARailThatStaysSlowIsTriedEverMoreRarely) {
  rails two({1, 20});
  two.send(10 * earliest_end::soon / stripe);
  const double first = two.taken[1];
  two.send(100 * earliest_end::soon / stripe);
  EXPECT_LT(two.taken[1] - first, 2 * first) << "ten times as many bytes";
}

TEST(EarliestEnd, ALongWayToAFastRailDoesNotMakeItSlow) {
  rails two({0.1, 0.1});
  two.latency_ns = 30'000;  // of each stripe, beside the others'
  two.send(200);
  EXPECT_NEAR(two.taken[1], 100, 15);
}

TEST(EarliestEnd, AFullRailAndAClosedOneAreNotChosen) {
  earliest_end plan(3);
  plan.close(1);
  EXPECT_EQ(plan.choose(stripe, 0b001).rail, 2u);
  EXPECT_EQ(plan.choose(stripe, 0b101).bytes, 0u);
}

TEST(EarliestEnd, WhatWasTakenBackIsNotMeasured) {
  earliest_end plan(2);
  for (const std::size_t rail : {0u, 0u, 1u, 1u}) plan.begun(rail, stripe);
  EXPECT_EQ(plan.choose(stripe, 0).bytes, 0u) << "all are being tried";
  plan.taken_back(1, stripe);
  EXPECT_EQ(plan.choose(stripe, 0).rail, 1u) << "it is still to be tried";
}

}  // namespace
}  // namespace heddle::protocols
