// strategy_test.cpp - how stripes are shared among rails of known and unknown speed.
#include "protocols/strategy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
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
    std::uint64_t begun, ends;
  };
  /// Sends `count` stripes as soon as the strategy has a rail for them; returns when all are there.
  std::uint64_t send(int count) {
    const std::uint64_t began = now;
    for (int sent = 0; sent < count || !flights.empty();) {
      const std::size_t rail = sent < count ? plan.choose(stripe, 0) : strategy::none;
      if (rail == strategy::none) {
        end_next();
        continue;
      }
      begin(rail);
      ++sent;
    }
    return now - began;
  }
  void begin(std::size_t rail) {
    std::uint64_t free = now;
    for (const flight& f : flights)
      if (f.rail == rail) free = std::max(free, f.ends);
    flights.push_back({rail, now, free + static_cast<std::uint64_t>(ns_per_byte[rail] * stripe)});
    plan.begun(rail, stripe);
    ++taken[rail];
  }
  void end_next() {
    auto next = flights.begin();
    for (auto f = flights.begin(); f != flights.end(); ++f)
      if (f->ends < next->ends) next = f;
    const flight ended = *next;
    flights.erase(next);
    now = ended.ends;
    plan.ended(ended.rail, stripe, ended.begun, now);
  }

  std::vector<double> ns_per_byte;
  earliest_end plan;
  std::deque<flight> flights;
  std::uint64_t now = 1;
  std::vector<int> taken = std::vector<int>(8);
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

TEST(EarliestEnd, AMuchSlowerRailIsTriedOnceAndLeftAlone) {
  rails two({1, 10});
  two.send(1000);
  EXPECT_EQ(two.taken[1], 1);
}

TEST(EarliestEnd, TheFirstRailIsLeftAloneWhenItIsTheSlowOne) {
  rails two({10, 1});
  two.send(100);
  EXPECT_LE(two.taken[0], 2);
}

TEST(EarliestEnd, ALongTransferEndsNoLaterThanOverTheGoodRailAlone) {
  for (const double slow : {1.5, 3.0, 4.0, 10.0}) {
    rails two({1, slow});
    two.send(8);  // finds out
    EXPECT_LE(two.send(64), 64 * stripe) << slow;
  }
}

TEST(EarliestEnd, ARailLeftAloneIsTriedAgainAfterManyBytes) {
  rails two({1, 10});
  two.send(100);
  two.ns_per_byte[1] = 1;
  const int before = two.taken[1];
  two.send(static_cast<int>(earliest_end::stale_bytes / stripe) + 200);
  EXPECT_GT(two.taken[1], before + 50);
}

TEST(EarliestEnd, AFullRailAndAClosedOneAreNotChosen) {
  earliest_end plan(3);
  plan.close(1);
  EXPECT_EQ(plan.choose(stripe, 0b001), 2u);
  EXPECT_EQ(plan.choose(stripe, 0b101), strategy::none);
}

TEST(EarliestEnd, WhatWasTakenBackIsNotMeasured) {
  earliest_end plan(2);
  plan.begun(1, stripe);
  EXPECT_EQ(plan.choose(stripe, 0), 0u);
  plan.taken_back(1, stripe);
  EXPECT_EQ(plan.choose(stripe, 0), 1u) << "it is still to be tried";
}

}  // namespace
}  // namespace heddle::protocols
