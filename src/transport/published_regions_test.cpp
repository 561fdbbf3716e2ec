// SPDX-License-Identifier: BSD-3-Clause
// published_regions_test.cpp - tables of regions that peers read while they are written, and what a
// reader makes of that.
#include "transport/published_regions.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::transport {
namespace {

using memory::region_ref;

struct reached : known_region {
  std::uint64_t address = 0;
};

/// An owner's table, and one lane of a peer that reads it.
class Reader : public testing::Test {
 protected:
  /// One answer, with the reading that it asks for done at once.
  status ask(region_ref ref) {
    const status s = regions.look_up(ref, found, [&](reached& r) {
      if (!regions.may_fetch()) return status::busy_queue;
      regions.begin_fetch(r);
      ++reads;
      return status::busy_queue;
    });
    if (s == status::busy_queue && !regions.may_fetch()) arrive(table.data() + ref.slot * 32);
    return s;
  }
  void arrive(const std::byte* entry) {
    region_entry e;
    if (reached* const r = regions.end_fetch(entry, e); r != nullptr) {
      r->address = e.address;
      r->state = known_region::state_t::known;
    }
  }
  void tell(region_ref ref, std::uint64_t address) {
    publish(table, ref, {ref.generation, 7, 100, address, 0, 0});
  }

  std::vector<std::byte> table = std::vector<std::byte>(region_table_bytes);
  known_regions<reached> regions;
  reached* found = nullptr;
  int reads = 0;
};

TEST(RegionEntry, IsKnownFromMemoryThatNobodyHasWritten) {
  const region_entry empty;
  EXPECT_NE(empty.check, check_sum(empty));
}

TEST(RegionEntry, ShowsByItsSumThatItWasBeingWritten) {
  region_entry e{1, 7, 4096, 0x7000'0000, 0x1234, 0};
  e.check = check_sum(e);
  for (std::size_t cut = 0; cut < sizeof e; ++cut) {  // it comes in order of addresses
    region_entry partly;
    std::memcpy(&partly, &e, cut);
    const bool all_there = std::memcmp(&partly, &e, sizeof e) == 0;
    EXPECT_TRUE(all_there || partly.check != check_sum(partly)) << cut;
  }
}

TEST_F(Reader, ReadsAnEntryOnceAndKnowsTheRegionFromThenOn) {
  tell({5, 1}, 0xabc);
  EXPECT_EQ(ask({5, 1}), status::busy_queue);
  EXPECT_EQ(ask({5, 1}), status::done);
  EXPECT_EQ(found->address, 0xabcu);
  EXPECT_EQ(regions.find_recent({5, 1}), found);
  EXPECT_EQ(ask({5, 1}), status::done);
  EXPECT_EQ(reads, 1);
}

TEST_F(Reader, SaysOnceOfARegionThatIsNotThereAndLooksAgainTheNextTime) {
  EXPECT_EQ(ask({5, 1}), status::busy_queue);
  EXPECT_EQ(ask({5, 1}), status::withdrawn);
  tell({5, 1}, 0xabc);
  EXPECT_EQ(ask({5, 1}), status::busy_queue);
  EXPECT_EQ(ask({5, 1}), status::done);
}

TEST_F(Reader, TakesNoOtherGenerationForTheOneThatIsMeant) {
  tell({5, 2}, 0xabc);
  EXPECT_EQ(ask({5, 1}), status::busy_queue);
  EXPECT_EQ(ask({5, 1}), status::withdrawn);
  EXPECT_EQ(ask({5, 2}), status::busy_queue);
  EXPECT_EQ(ask({5, 2}), status::done);
  EXPECT_EQ(regions.find_recent({5, 1}), nullptr);
}

TEST_F(Reader, ReadsAgainWhatWasBeingWrittenAndWhatCouldNotBeRead) {
  tell({5, 1}, 0xabc);
  (void)regions.look_up({5, 1}, found, [&](reached& r) {
    regions.begin_fetch(r);
    return status::busy_queue;
  });
  std::vector<std::byte> torn(table.begin() + 160, table.begin() + 192);
  torn[20] ^= std::byte{1};
  arrive(torn.data());
  EXPECT_EQ(regions.look_up({5, 1}, found,
                            [&](reached& r) {
                              regions.begin_fetch(r);
                              return status::busy_queue;
                            }),
            status::busy_queue);
  arrive(nullptr);
  EXPECT_EQ(ask({5, 1}), status::busy_queue);
  EXPECT_EQ(ask({5, 1}), status::done);
}

TEST_F(Reader, RefusesWhatNamesNoSlot) {
  EXPECT_EQ(ask({memory::region_table::slots, 1}), status::withdrawn);
  EXPECT_EQ(ask({5, 0}), status::withdrawn);
  EXPECT_EQ(reads, 0);
}

TEST_F(Reader, ForgetsWhatItIsToldToDistrust) {
  for (const std::uint32_t slot : {1u, 2u, 3u}) {
    tell({slot, 1}, slot);
    (void)ask({slot, 1});
    ASSERT_EQ(ask({slot, 1}), status::done);
  }
  regions.distrust([](const reached& r) { return r.address != 2; });
  EXPECT_EQ(ask({2, 1}), status::done);
  EXPECT_EQ(ask({3, 1}), status::busy_queue);
  EXPECT_EQ(ask({3, 1}), status::done);
  EXPECT_EQ(reads, 4);
}

TEST_F(Reader, KnowsMoreRegionsThanItUsedLast) {
  for (std::uint32_t slot = 0; slot < 40; ++slot) {
    tell({slot, 1}, slot);
    (void)ask({slot, 1});
    ASSERT_EQ(ask({slot, 1}), status::done);
  }
  for (std::uint32_t slot = 0; slot < 40; ++slot) {
    ASSERT_EQ(ask({slot, 1}), status::done);
    EXPECT_EQ(found->address, slot);
  }
  EXPECT_EQ(reads, 40);
}

}  // namespace
}  // namespace heddle::transport
