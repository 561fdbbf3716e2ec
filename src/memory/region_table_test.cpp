// SPDX-License-Identifier: BSD-3-Clause
// region_table_test.cpp - refs, bounds, rights, pins, and removal under concurrent look-ups.
#include "memory/region_table.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <thread>

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

}  // namespace
}  // namespace heddle::memory
