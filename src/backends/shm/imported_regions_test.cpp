// SPDX-License-Identifier: BSD-3-Clause
// imported_regions_test.cpp - what is mapped once, and what is found withdrawn.
#include "backends/shm/imported_regions.h"

#include <gtest/gtest.h>
#include <heddle/status.h>

#include "backends/shm/own_segment.h"
#include "support/heap.h"

namespace heddle::transport::shm {
namespace {

/// A region of rank 1 that can be mapped.
struct ImportedRegions : testing::Test {
  ImportedRegions()
      : there(1),
        peer(std::make_shared<peer_process>(there.where(), false)),
        file(make_sealed_memory("a region", bytes)),
        memory(file.get(), bytes, "a region"),
        region(table.add({memory.data(), bytes}, rights::all, {file.get(), true})) {
    there.expose(region);
  }
  static constexpr std::size_t bytes = 4096;

  own_segment there;
  std::shared_ptr<peer_process> peer;
  owned_fd file;
  mapping memory;
  memory::region_table table;
  memory::local_region region;
  imported_regions imports;
  detail::remote_target target;
};

TEST_F(ImportedRegions, MapsARegionOnceWhileItIsInUse) {
  const auto one = imports.import(peer, region.ref, target);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(target.bytes, bytes);
  memory.data()[7] = std::byte{7};
  EXPECT_EQ(target.direct[7], std::byte{7});
  EXPECT_EQ(imports.import(peer, region.ref, target), one);
}

TEST_F(ImportedRegions, FindsThoseOfABuriedPeerWithdrawn) {
  const auto keep = imports.import(peer, region.ref, target);
  imports.mark_lost(2);
  EXPECT_TRUE(target.live->is(target.generation));
  imports.mark_lost(1);
  EXPECT_FALSE(target.live->is(target.generation));
}

TEST_F(ImportedRegions, ThrowsForWhatWasWithdrawn) {
  there.withdraw(region);
  EXPECT_THROW((void)imports.import(peer, region.ref, target), error);
}

TEST_F(ImportedRegions, KeepsNothingOfWhatCouldNotBeMapped) {
  const auto fail = [&](std::uint32_t generation) {
    EXPECT_THROW((void)imports.import(peer, {region.ref.slot, generation}, target), error);
  };
  fail(1000);  // what is made only once
  const std::size_t before = test::bytes_from_the_heap();
  for (std::uint32_t i = 1; i <= 1000; ++i) fail(1000 + i);
  EXPECT_LT(test::bytes_from_the_heap(), before + 16 * 1024);
}

}  // namespace
}  // namespace heddle::transport::shm
