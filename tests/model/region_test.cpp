// SPDX-License-Identifier: BSD-3-Clause
// region_test.cpp - what the table of regions is made of, under every schedule of a few threads:
// the numbers of its slots, and the index of its lasting regions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/explorer.h"
#include "sync/enclosing_intervals.h"
#include "sync/free_numbers.h"

namespace heddle::model {
namespace {

// --- numbers ---------------------------------------------------------------------------

constexpr std::uint32_t most = 4;

struct slots {
  using link = sync::free_number<model::atomic>;
  struct links {
    slots* of;
    [[nodiscard]] link* find(std::uint32_t number) const { return &of->all[number]; }
    [[nodiscard]] link* make(std::uint32_t number) const { return &of->all[number]; }
  };
  explicit slots(std::uint32_t limit) : numbers({this}, 0, limit) {}

  std::uint32_t take(std::size_t home) {
    const auto got = numbers.take(home);
    if (!got) return most;
    crowded |= ++holders[*got] != 1;
    return *got;
  }
  void give_back(std::uint32_t number) {
    if (number == most) return;
    --holders[number];
    numbers.give_back(number);
  }
  /// What is free can be taken, each number once.
  [[nodiscard]] std::string at_the_end(std::uint32_t limit) {
    std::uint32_t held = 0, left = 0;
    for (const int each : holders) held += static_cast<std::uint32_t>(each);
    while (take(0) != most && left != 2 * most) ++left;
    if (crowded) return "two have one number";
    return held + left == limit ? "" : fmt::format("{} held and {} left of {}", held, left, limit);
  }

  std::array<link, most> all{};
  std::array<int, most> holders{};
  bool crowded = false;
  sync::free_numbers<links, model::atomic> numbers;
};

template <class Make>
explored explore_slots(int preemptions, std::uint32_t limit, Make threads) {
  std::unique_ptr<slots> s;
  explored e = explore(
      preemptions,
      [&] {
        s = std::make_unique<slots>(limit);
        return threads(*s);
      },
      [&] { return s->at_the_end(limit); });
  std::printf("%llu schedules\n", static_cast<unsigned long long>(e.schedules));
  return e;
}

TEST(RegionModel, ANumberIsHeldByOneThoughAnotherPutsItBackWhileTheHeadIsLookedAt) {
  const explored e = explore_slots(3, 3, [](slots& s) -> std::vector<thread_body> {
    for (const std::uint32_t each : {s.take(0), s.take(0), s.take(0)}) s.give_back(each);
    return {[&s] { (void)s.take(0); },
            [&s] {
              const std::uint32_t first = s.take(0);
              (void)s.take(0);
              s.give_back(first);
            },
            [&s] { s.give_back(s.take(0)); }};
  });
  EXPECT_EQ(e.failure, "");
}

TEST(RegionModel, HomesTakeFromEachOtherWhenNothingElseIsLeft) {
  const explored e = explore_slots(2, 2, [](slots& s) -> std::vector<thread_body> {
    s.give_back(s.take(0));
    return {[&s] {
              const std::uint32_t mine = s.take(0);
              s.give_back(s.take(0));
              s.give_back(mine);
            },
            [&s] {
              for (int i = 0; i < 2; ++i) s.give_back(s.take(1));
            }};
  });
  EXPECT_EQ(e.failure, "");
}

// --- the index of lasting regions ------------------------------------------------------

using index = sync::enclosing_intervals<model::atomic>;
using interval = index::interval;

constexpr interval outer{100, 400, {1, 0}}, inner{200, 300, {2, 0}}, before{50, 150, {3, 0}},
    beyond{500, 600, {4, 0}};

struct lasting {
  lasting() : regions(4) {}
  /// What is found was there, and contains the range.
  void look(std::uintptr_t from, std::uintptr_t to) {
    const auto found = regions.find(from, to);
    if (found && (found->from > from || found->to < to)) wrong = "it does not contain the range";
    if (!found) return;
    bool known = false;
    for (const interval& each : {outer, inner, before, beyond}) known |= *found == each;
    if (!known) wrong = "it is a mixture of two";
  }
  void look_for(const interval& there) {
    for (int i = 0; i < 3; ++i) {
      const auto found = regions.find(there.from, there.to);
      if (found && *found != there) wrong = "it is not the one that is there";
    }
  }
  index regions;
  std::string wrong;
};

template <class Make>
explored explore_lasting(int preemptions, Make threads) {
  std::unique_ptr<lasting> l;
  explored e = explore(
      preemptions,
      [&] {
        l = std::make_unique<lasting>();
        return threads(*l);
      },
      [&] { return l->wrong; });
  std::printf("%llu schedules\n", static_cast<unsigned long long>(e.schedules));
  return e;
}

TEST(RegionModel, WhoLooksBesideAChangeFindsWhatWasThereAtOneMoment) {
  const explored e = explore_lasting(3, [](lasting& l) -> std::vector<thread_body> {
    l.regions.insert(outer);
    return {[&l] {
              l.regions.insert(inner);
              l.regions.insert(before);
              l.regions.erase(outer);
            },
            [&l] {
              l.look(220, 280);
              l.look(120, 140);
            }};
  });
  EXPECT_EQ(e.failure, "");
}

TEST(RegionModel, WhatStaysIsNeverMistakenForWhatComesAndGoesAroundIt) {
  const explored e = explore_lasting(2, [](lasting& l) -> std::vector<thread_body> {
    l.regions.insert(beyond);
    return {[&l] {
              l.regions.insert(outer);
              l.regions.erase(outer);
              l.regions.insert(before);
            },
            [&l] { l.look_for(beyond); }};
  });
  EXPECT_EQ(e.failure, "");
}

TEST(RegionModel, WhoIsNotDisturbedFindsTheInnermost) {
  lasting l;
  for (const interval& each : {outer, before, inner, beyond}) l.regions.insert(each);
  EXPECT_EQ(l.regions.find(220, 280), inner);
  EXPECT_EQ(l.regions.find(220, 380), outer);
  EXPECT_EQ(l.regions.find(60, 140), before);
  EXPECT_EQ(l.regions.find(60, 160), std::nullopt);
  l.regions.erase(outer);
  EXPECT_EQ(l.regions.find(220, 280), inner);
  EXPECT_EQ(l.regions.find(220, 380), std::nullopt);
}

}  // namespace
}  // namespace heddle::model
