// SPDX-License-Identifier: BSD-3-Clause
// region_table_test.cpp - refs, bounds, rights, pins, and removal under concurrent look-ups.
#include "memory/region_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <thread>
#include <vector>

#include "support/resident.h"
#include "support/scale.h"
#include "sync/release_acquire.h"

namespace heddle::memory {
namespace {

constexpr auto huge = std::numeric_limits<std::uint64_t>::max();

TEST(RegionTable, FindsARangeInsideTheRegion) {
  region_table table;
  std::array<std::byte, 100> memory{};
  const local_region region = table.add(memory, rights::all);
  ASSERT_NE(region.ref.generation, 0u);
  const auto found = table.look_up(region.ref, 40, 60, rights::read);
  EXPECT_EQ(found.code(), status::done);
  EXPECT_EQ(found.at(), memory.data() + 40);
  EXPECT_EQ(table.look_up(region.ref, 100, 0, rights::read).code(), status::done);
}

TEST(RegionTable, RefusesRangesThatLeaveTheRegionAlsoByOverflow) {
  region_table table;
  std::array<std::byte, 100> memory{};
  const region_ref ref = table.add(memory, rights::all).ref;
  EXPECT_EQ(table.look_up(ref, 40, 61, rights::read).code(), status::out_of_bounds);
  EXPECT_EQ(table.look_up(ref, 101, 0, rights::read).code(), status::out_of_bounds);
  EXPECT_EQ(table.look_up(ref, huge, 2, rights::read).code(), status::out_of_bounds);
  EXPECT_EQ(table.look_up(ref, 2, huge, rights::read).code(), status::out_of_bounds);
  EXPECT_EQ(table.look_up(ref, huge, huge, rights::read).code(), status::out_of_bounds);
}

TEST(RegionTable, DeniesWhatTheRegionWasNotExposedFor) {
  region_table table;
  std::array<std::byte, 8> memory{};
  const region_ref ref = table.add(memory, rights::read | rights::atomic).ref;
  EXPECT_EQ(table.look_up(ref, 0, 8, rights::write).code(), status::denied);
  EXPECT_EQ(table.look_up(ref, 0, 8, rights::read | rights::write).code(), status::denied);
  EXPECT_EQ(table.look_up(ref, 0, 8, rights::atomic).code(), status::done);
}

TEST(RegionTable, FindsNothingUnderStaleOrForgedRefs) {
  region_table table;
  std::array<std::byte, 8> memory{};
  const region_ref old = table.add(memory, rights::all).ref;
  table.remove(old);
  EXPECT_EQ(table.look_up(old, 0, 1, rights::read).code(), status::withdrawn);
  const region_ref reused = table.add(memory, rights::all).ref;
  EXPECT_EQ(reused.slot, old.slot);
  EXPECT_EQ(table.look_up(old, 0, 1, rights::read).code(), status::withdrawn);
  table.remove(old);  // a stale ref removes nothing
  EXPECT_EQ(table.look_up(reused, 0, 1, rights::read).code(), status::done);
  for (const region_ref forged : {region_ref{reused.slot, 0}, region_ref{region_table::slots, 1},
                                  region_ref{~0u, ~0u}, region_ref{5000, 1}}) {
    EXPECT_EQ(table.look_up(forged, 0, 0, rights::none).code(), status::withdrawn);
    table.remove(forged);
  }
}

TEST(RegionTable, ComputesTheSameSymmetricRefsEverywhereAndNeverGenerationZero) {
  EXPECT_EQ(region_table::symmetric_ref(0), (region_ref{0, 1}));
  EXPECT_EQ(region_table::symmetric_ref(region_table::symmetric_slots + 3), (region_ref{3, 2}));
  constexpr std::uint64_t last = std::uint64_t{0xffff'ffff} * region_table::symmetric_slots;
  EXPECT_EQ(region_table::symmetric_ref(last - 1).generation, 0xffff'ffffu);
  EXPECT_EQ(region_table::symmetric_ref(last).generation, 1u);
}

TEST(RegionTable, GivesASymmetricSlotToOneArrayAtATime) {
  region_table table;
  std::array<std::byte, 8> memory{};
  const region_ref ref = region_table::symmetric_ref(7);
  EXPECT_EQ(table.add_at(ref, memory, rights::all, {}).ref, ref);
  const region_ref next = region_table::symmetric_ref(7 + region_table::symmetric_slots);
  EXPECT_EQ(table.add_at(next, memory, rights::all, {}).ref.generation, 0u);
  table.remove(ref);
  EXPECT_EQ(table.add_at(next, memory, rights::all, {}).ref, next);
  EXPECT_EQ(table.look_up(ref, 0, 1, rights::read).code(), status::withdrawn);
  const region_ref outside{region_table::symmetric_slots, 1};
  EXPECT_EQ(table.add_at(outside, memory, rights::all, {}).ref.generation, 0u);
}

TEST(RegionTable, PassesOverSymmetricPlacesThatAreTaken) {
  region_table table;
  std::array<std::byte, 8> memory{};
  EXPECT_EQ(table.next_symmetric(7), 7u);
  const std::uint64_t later = 7 + region_table::symmetric_slots;
  (void)table.add_at(region_table::symmetric_ref(7), memory, rights::all, {});
  EXPECT_EQ(table.next_symmetric(7), 8u);
  EXPECT_EQ(table.next_symmetric(later), later + 1);
  for (std::uint64_t n = 8; n != later; ++n)
    (void)table.add_at(region_table::symmetric_ref(n), memory, rights::all, {});
  EXPECT_FALSE(table.next_symmetric(7).has_value());
}

TEST(RegionTable, SaysWhenItIsFullAndRecovers) {
  region_table table;
  std::array<std::byte, 8> memory{};
  region_ref last;
  for (std::uint32_t i = region_table::symmetric_slots; i < region_table::slots; ++i) {
    last = table.add(memory, rights::all).ref;
    ASSERT_NE(last.generation, 0u);
  }
  EXPECT_EQ(table.add(memory, rights::all).ref.generation, 0u);
  table.remove(last);
  EXPECT_NE(table.add(memory, rights::all).ref.generation, 0u);
}

TEST(RegionTable, TouchesNoMemoryForRegionsThatAreNotThere) {
  if (test::sanitized) GTEST_SKIP() << "a sanitizer touches memory of its own for ours";
  const std::size_t before = test::resident_bytes();
  const std::array<region_table, 16> tables;
  EXPECT_LT(test::resident_bytes() - before, tables.size() * 256 * 1024);
}

TEST(RegionTable, FindsTheLastingRegionThatContainsARange) {
  region_table table;
  std::array<std::byte, 300> memory{};
  const std::span<std::byte> all(memory);
  const auto outer = table.add(all, rights::all, {5, true});
  const auto inner = table.add(all.subspan(100, 50), rights::all, {6, true});
  table.add(all.subspan(200, 100), rights::all);  // the program's
  EXPECT_EQ(table.find_lasting(all.subspan(110, 20)).on.memfd, 6);
  EXPECT_EQ(table.find_lasting(all.subspan(140, 20)).on.memfd, 5);
  EXPECT_EQ(table.find_lasting(all.subspan(250, 50)).on.memfd, 5);
  table.remove(outer.ref);
  EXPECT_EQ(table.find_lasting(all.subspan(250, 50)).ref.generation, 0u);
  EXPECT_EQ(table.find_lasting(all.subspan(140, 20)).ref.generation, 0u);
  EXPECT_EQ(table.find_lasting(all.subspan(100, 50)).ref, inner.ref);
}

TEST(RegionTable, KeepsOtherLastingRegionsThatBeginAtTheSamePlace) {
  region_table table;
  std::array<std::byte, 300> memory{};
  const std::span<std::byte> all(memory);
  const auto first = table.add(all, rights::all, {5, true});
  const auto second = table.add(all.first(100), rights::all, {6, true});
  const auto third = table.add(all.first(200), rights::all, {7, true});
  table.remove(second.ref);
  EXPECT_EQ(table.find_lasting(all.first(50)).ref, third.ref);
  EXPECT_EQ(table.find_lasting(all).ref, first.ref);
  table.remove(third.ref);
  table.remove(first.ref);
  EXPECT_EQ(table.find_lasting(all.first(50)).ref.generation, 0u);
}

TEST(RegionTable, RemoveWaitsForPins) {
  region_table table;
  std::array<std::byte, 8> memory{};
  const region_ref ref = table.add(memory, rights::all).ref;
  sync::release_acquire<int> removed{0};
  std::thread remover;
  {
    const auto pinned = table.look_up(ref, 0, 8, rights::read);
    remover = std::thread([&] {
      table.remove(ref);
      removed.set(1);
    });
    while (table.look_up(ref, 0, 8, rights::read).code() == status::done) std::this_thread::yield();
    EXPECT_EQ(removed.get(), 0);
  }
  remover.join();
  EXPECT_EQ(removed.get(), 1);
}

/// Adds and removes a region over `memory`, which is 1 while exposed and 0 otherwise.
void expose_and_withdraw(region_table& table, std::span<std::byte> memory,
                         sync::release_acquire<std::uint64_t>& shown, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    memory[0] = std::byte{1};
    const region_ref ref = table.add(memory, rights::all).ref;
    shown.set(std::uint64_t{ref.slot} << 32 | ref.generation);
    table.remove(ref);
    memory[0] = std::byte{0};
  }
  shown.set(0);
}

TEST(RegionTable, NeverLetsAPeerTouchMemoryAfterRemoveReturned) {
  region_table table;
  std::array<std::byte, 8> memory{};
  sync::release_acquire<std::uint64_t> shown{1};
  std::thread owner([&] { expose_and_withdraw(table, memory, shown, 20'000); });
  std::uint32_t bad = 0;
  while (const std::uint64_t now = shown.get()) {
    const region_ref ref{static_cast<std::uint32_t>(now >> 32), static_cast<std::uint32_t>(now)};
    const auto pinned = table.look_up(ref, 0, 1, rights::read);
    if (pinned.code() == status::done) bad += *pinned.at() != std::byte{1};
  }
  owner.join();
  EXPECT_EQ(bad, 0u);
}

/// As the sends of one lane: one region after another over its own memory, two at a time. Returns
/// how often another's was under its ref.
std::uint32_t lend_again_and_again(region_table& table, std::size_t home, int rounds) {
  std::array<std::byte, 16> memory{};
  const std::span<std::byte> all(memory);
  std::uint32_t bad = 0;
  for (int i = 0; i < rounds; ++i) {
    const region_ref one = table.add(all.first(8), rights::read, {}, home).ref;
    const region_ref two = table.add(all.subspan(8), rights::read, {}, home).ref;
    bad += one.slot == two.slot;
    bad += table.look_up(one, 0, 8, rights::read).at() != memory.data();
    bad += table.look_up(two, 0, 8, rights::read).at() != memory.data() + 8;
    table.remove(one);
    bad += table.look_up(one, 0, 8, rights::read).code() != status::withdrawn;
    table.remove(two);
  }
  return bad;
}

TEST(RegionTable, LendsToManyThreadsAtOnceAndEachItsOwn) {
  region_table table;
  std::array<std::uint32_t, 4> bad{};
  std::vector<std::thread> lanes;
  for (std::size_t i = 0; i < bad.size(); ++i)  // two lanes share a home
    lanes.emplace_back([&, i] { bad[i] = lend_again_and_again(table, i / 2, 10'000); });
  for (auto& each : lanes) each.join();
  EXPECT_EQ(bad, (std::array<std::uint32_t, 4>{}));
}

TEST(RegionTable, GivesEachSlotToOneOfThoseThatWantTheLast) {
  region_table table;
  std::array<std::byte, 8> memory{};
  const auto take_one = [&](std::size_t home) {
    return table.add(memory, rights::read, {}, home).ref;
  };
  std::array<std::vector<std::uint32_t>, 4> mine;
  std::vector<std::thread> lanes;
  for (std::size_t home = 0; home < mine.size(); ++home)
    lanes.emplace_back([&, home] {
      for (region_ref kept; (kept = take_one(home)).generation != 0;) {
        mine[home].push_back(kept.slot);
        table.remove(take_one(home));  // to be had again, by any
      }
    });
  for (auto& each : lanes) each.join();
  std::vector<std::uint32_t> taken;
  for (const auto& each : mine) taken.insert(taken.end(), each.begin(), each.end());
  for (region_ref left; (left = take_one(0)).generation != 0;) taken.push_back(left.slot);
  EXPECT_EQ(taken.size(), region_table::slots - region_table::symmetric_slots);
  std::ranges::sort(taken);
  EXPECT_EQ(std::ranges::adjacent_find(taken), taken.end());
}

TEST(RegionTable, RemovesARegionOnceThoughTwoAskForIt) {
  region_table table;
  std::array<std::byte, 8> memory{};
  for (int i = 0; i < 500; ++i) {
    const region_ref ref = table.add(memory, rights::all).ref;
    std::thread other([&] { table.remove(ref); });
    table.remove(ref);
    other.join();
    const region_ref one = table.add(memory, rights::all).ref;
    const region_ref two = table.add(memory, rights::all).ref;
    ASSERT_NE(one.slot, two.slot);
    table.remove(one);
    table.remove(two);
  }
}

TEST(RegionTable, NeverMistakesALastingRegionWhileOthersComeAndGo) {
  region_table table;
  std::vector<std::byte> memory(1000);
  const std::span<std::byte> all(memory);
  const auto stays = table.add(all.subspan(400, 200), rights::read, {5, true});
  sync::release_acquire<int> over{0};
  std::vector<std::thread> others;
  for (std::size_t i = 0; i < 2; ++i)
    others.emplace_back([&, i] {  // before it in the index, and the other's around it
      for (int round = 0; round < 20'000; ++round) {
        const auto large = table.add(all.subspan(i * 100, 900), rights::all, {6, true}, i);
        const auto small = table.add(all.subspan(i * 100, 50), rights::all, {7, true}, i);
        table.remove(large.ref);
        table.remove(small.ref);
      }
      if (i == 1) over.set(1);
    });
  std::uint32_t bad = 0;
  while (over.get() == 0) {
    const auto found = table.find_lasting(all.subspan(450, 100));
    if (found.ref.generation == 0) continue;  // disturbed
    bad += found.ref != stays.ref || found.memory.data() != stays.memory.data() ||
           found.on.memfd != 5 || found.allowed != rights::read;
  }
  for (auto& each : others) each.join();
  EXPECT_EQ(bad, 0u);
  EXPECT_EQ(table.find_lasting(all.subspan(450, 100)).ref, stays.ref);
}

}  // namespace
}  // namespace heddle::memory
