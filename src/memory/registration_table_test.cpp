// SPDX-License-Identifier: BSD-3-Clause
// registration_table_test.cpp - what is found, what hides what, and what goes to make room.
#include "memory/registration_table.h"

#include <gtest/gtest.h>
#include <heddle/status.h>

#include "support/fake_registrar.h"
#include "support/resident.h"
#include "support/scale.h"

namespace heddle::memory {
namespace {

constexpr std::size_t page = 4096;

/// The device reads no memory, so any addresses do.
constexpr address_range pages(std::size_t first, std::size_t count) {
  return {(100 + first) * page, (100 + first + count) * page};
}

struct RegistrationTable : testing::Test {
  void TearDown() override { EXPECT_EQ(device.complaint(), ""); }
  /// Listed, and its maker inside.
  static registration& make(registration_table& in, address_range where) {
    EXPECT_TRUE(in.make_room(where.bytes()));
    registration& made = *in.add(where).where;
    made.word.publish();
    EXPECT_TRUE(made.word.open());
    in.list(made);
    return made;
  }
  static registration& make_unused(registration_table& in, address_range where) {
    registration& made = make(in, where);
    EXPECT_FALSE(made.word.leave());
    return made;
  }

  test::fake_registrar device;
};

TEST_F(RegistrationTable, FindsWhatBeginsLastBeforeAnAddress) {
  registration_table table(device, {}, nullptr);
  registration& low = make(table, pages(0, 4));
  registration& high = make(table, pages(8, 4));
  EXPECT_EQ(&table.candidate(pages(3, 1).from), &low);
  EXPECT_EQ(&table.candidate(pages(8, 1).from), &high);
  table.unlist(high);
  EXPECT_EQ(&table.candidate(pages(8, 1).from), &low);
  EXPECT_TRUE(table.has(pages(8, 4)));
}

TEST_F(RegistrationTable, HidesWhatANewOneCovers) {
  registration_table table(device, {}, nullptr);
  registration& leased = make(table, pages(1, 1));
  make_unused(table, pages(2, 1));
  registration& all = make(table, pages(0, 4));
  EXPECT_EQ(&table.candidate(pages(2, 1).from), &all);
  EXPECT_TRUE(table.has(pages(1, 1)));
  EXPECT_FALSE(table.has(pages(2, 1)));
  EXPECT_TRUE(leased.word.leave());
  table.clear(leased);
  EXPECT_EQ(device.size(), 1u);
}

TEST_F(RegistrationTable, GrowsOverNeighboursUpToTwiceTheSize) {
  registration_table table(device, {}, nullptr);
  make_unused(table, pages(2, 2));
  EXPECT_EQ(table.with_neighbours(pages(0, 3)), pages(0, 4));
  EXPECT_EQ(table.with_neighbours(pages(4, 1)), pages(4, 1)) << "it only touches";
  make_unused(table, pages(10, 8));
  EXPECT_EQ(table.with_neighbours(pages(9, 2)), pages(9, 2)) << "it would be four times the size";
}

TEST_F(RegistrationTable, MakesRoomWhereNobodyWasForLongest) {
  registration_table table(device, {.entries = 3}, nullptr);
  registration& leased = make(table, pages(0, 1));
  make_unused(table, pages(10, 1));
  registration& entered = make_unused(table, pages(20, 1));
  make_unused(table, pages(30, 1));  // finds what was used until now, and evicts the second
  EXPECT_FALSE(table.has(pages(10, 1)));
  ASSERT_TRUE(entered.word.try_enter());
  EXPECT_FALSE(entered.word.leave());
  make(table, pages(40, 1));
  EXPECT_FALSE(table.has(pages(30, 1)));
  EXPECT_TRUE(table.has(pages(20, 1)) && table.has(leased.pages()));
  EXPECT_EQ(table.counters().evictions, 2u);
  EXPECT_EQ(table.counters().misses, 5u);
}

TEST_F(RegistrationTable, GoesOverItsBytesButNotItsEntriesForWhatIsLeased) {
  registration_table table(device, {.entries = 2, .bytes = 4 * page}, nullptr);
  make(table, pages(0, 4));
  make(table, pages(10, 4));
  EXPECT_FALSE(table.make_room(page));
}

TEST_F(RegistrationTable, EvictsForADeviceThatIsFull) {
  device.capacity = 1;
  registration_table table(device, {}, nullptr);
  registration& first = make_unused(table, pages(0, 1));
  ASSERT_TRUE(first.word.try_enter());
  EXPECT_EQ(table.add(pages(1, 1)).code, registrar::answer::full);
  EXPECT_FALSE(first.word.leave());
  EXPECT_EQ(table.add(pages(1, 1)).code, registrar::answer::done);
  EXPECT_FALSE(table.has(pages(0, 1)));
}

TEST_F(RegistrationTable, RefusesImpossibleNumbersOfEntries) {
  EXPECT_THROW(registration_table(device, {.entries = 0}, nullptr), error);
  EXPECT_THROW(registration_table(device, {.entries = 20'000}, nullptr), error);
}

TEST_F(RegistrationTable, TouchesNoMemoryForEntriesThatAreNotUsed) {
  if (test::sanitized) GTEST_SKIP() << "a sanitizer touches memory of its own for ours";
  const std::size_t before = test::resident_bytes();
  const registration_table table(device, {.entries = 16'384}, nullptr);
  EXPECT_LT(test::resident_bytes() - before, 512u * 1024) << "the index alone takes 256 KiB";
}

}  // namespace
}  // namespace heddle::memory
