// SPDX-License-Identifier: BSD-3-Clause
// registration_cache_test.cpp - what is found, what is made, and what has to go, without threads.
#include "memory/registration_cache.h"

#include <gtest/gtest.h>
#include <heddle/status.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "support/fake_registrar.h"

namespace heddle::memory {
namespace {

using test::fake_registrar;
using test::page_bytes;
using failure = registration_cache::failure;
using lease = registration_cache::lease;
using bytes = std::span<std::byte>;

constexpr std::size_t device_page = 64 * 1024;

/// Memory of `pages` pages of the device, whole pages.
class mapping {
 public:
  explicit mapping(std::size_t pages) : bytes_(pages * device_page) {
    // Room to find a boundary in.
    room_ = mmap(nullptr, bytes_ + device_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    const auto at = reinterpret_cast<std::uintptr_t>(room_);
    first_ = static_cast<std::byte*>(room_) + (device_page - at % device_page) % device_page;
  }
  ~mapping() { munmap(room_, bytes_ + device_page); }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  /// In pages of the device.
  [[nodiscard]] bytes pages(std::size_t from, std::size_t count) const {
    return {first_ + from * device_page, count * device_page};
  }
  [[nodiscard]] bytes at(std::size_t offset, std::size_t count) const {
    return {first_ + offset, count};
  }

 private:
  void* room_ = nullptr;
  std::size_t bytes_;
  std::byte* first_ = nullptr;
};

class RegistrationCache : public testing::Test {
 protected:
  void SetUp() override {
    if (monitor == nullptr) GTEST_SKIP() << unmap_monitor::probe("auto").why;
  }
  void TearDown() override { EXPECT_EQ(device.complaint(), ""); }

  fake_registrar device;
  unmap_monitor* monitor = unmap_monitor::start("auto");
  mapping memory{64};
};

TEST_F(RegistrationCache, FindsWhatItRegistered) {
  registration_cache cache(device, monitor);
  const auto first = cache.acquire(memory.pages(2, 3)).handle();
  EXPECT_EQ(cache.acquire(memory.pages(2, 3)).handle(), first);
  EXPECT_EQ(device.registrations(), 1u);
  EXPECT_EQ(cache.counters().hits, 1u);
  EXPECT_EQ(cache.counters().misses, 1u);
}

TEST_F(RegistrationCache, FindsAnythingInsideAndTellsWhereItBegins) {
  registration_cache cache(device, monitor);
  const auto all = cache.acquire(memory.pages(2, 3));
  EXPECT_EQ(all.offset(), 0u);
  const lease inside = cache.acquire(memory.pages(3, 1).subspan(5, 100));
  EXPECT_EQ(inside.handle(), all.handle());
  EXPECT_EQ(inside.offset(), device_page + 5);
  EXPECT_EQ(cache.acquire(memory.pages(4, 1)).handle(), all.handle());
  EXPECT_EQ(cache.acquire(memory.pages(4, 1).last(1)).handle(), all.handle());
  EXPECT_EQ(device.registrations(), 1u);
}

TEST_F(RegistrationCache, RoundsOutToPagesOfTheDevice) {
  registration_cache cache(device, monitor);
  const lease one = cache.acquire(memory.at(device_page + 100, 8));
  EXPECT_EQ(device.pages_of(one.handle()).data(), memory.pages(1, 1).data());
  EXPECT_EQ(device.pages_of(one.handle()).size(), device_page);
  EXPECT_EQ(one.offset(), 100u);
}

TEST_F(RegistrationCache, RegistersJustThePagesNeededWhenMoreIsRefused) {
  device.refuses = [](bytes pages) { return pages.size() >= device_page; };
  registration_cache cache(device, monitor);
  const lease one = cache.acquire(memory.at(device_page + page_bytes + 100, page_bytes));
  ASSERT_TRUE(one);
  EXPECT_EQ(device.pages_of(one.handle()).data(), memory.at(device_page + page_bytes, 1).data());
  EXPECT_EQ(device.pages_of(one.handle()).size(), 2 * page_bytes);
  EXPECT_EQ(one.offset(), 100u);
}

TEST_F(RegistrationCache, FindsAmongMany) {
  registration_cache cache(device, monitor);
  std::vector<std::uint64_t> handles(64);
  for (const std::size_t step : {0u, 1u})  // not in the order of addresses
    for (std::size_t i = step; i < 64; i += 2)
      handles[i] = cache.acquire(memory.pages(i, 1)).handle();
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(cache.acquire(memory.pages(i, 1)).handle(), handles[i]) << i;
  EXPECT_EQ(device.registrations(), 64u);
}

TEST_F(RegistrationCache, AHintIsOnlyAHint) {
  registration_cache cache(device, monitor, {.entries = 1});
  registration_cache::hint last;
  { const lease first = cache.acquire(memory.pages(0, 1), last); }
  { const lease again = cache.acquire(memory.pages(0, 1), last); }
  EXPECT_EQ(cache.counters().hits, 1u);
  // The entry becomes another one, of the same size, that the hint knows nothing of.
  { const lease other = cache.acquire(memory.pages(8, 1)); }
  const lease back = cache.acquire(memory.pages(0, 1), last);
  EXPECT_TRUE(device.is_current(back.handle(), back.offset(), memory.pages(0, 1)));
}

// --- overlapping requests --------------------------------------------------------------

TEST_F(RegistrationCache, AnOverlapOfSimilarSizeBecomesOneRegistration) {
  registration_cache cache(device, monitor);
  { const lease low = cache.acquire(memory.pages(0, 4)); }
  const lease both = cache.acquire(memory.pages(2, 4));
  EXPECT_EQ(device.pages_of(both.handle()).data(), memory.pages(0, 1).data());
  EXPECT_EQ(device.pages_of(both.handle()).size(), 6 * device_page);
  EXPECT_EQ(device.size(), 1u);  // the old one is gone
  EXPECT_EQ(cache.acquire(memory.pages(0, 6)).handle(), both.handle());
}

TEST_F(RegistrationCache, AnOverlapWithSomethingMuchLargerStaysSmall) {
  registration_cache cache(device, monitor);
  const auto large = cache.acquire(memory.pages(0, 32)).handle();
  const lease small = cache.acquire(memory.pages(31, 2));
  EXPECT_EQ(device.pages_of(small.handle()).size(), 2 * device_page);
  EXPECT_EQ(cache.acquire(memory.pages(0, 32)).handle(), large);
  EXPECT_EQ(cache.acquire(memory.pages(31, 1)).handle(), small.handle());  // the later start
  EXPECT_EQ(cache.acquire(memory.pages(32, 1)).handle(), small.handle());
}

TEST_F(RegistrationCache, GrowingRequestsLeaveOneRegistration) {
  registration_cache cache(device, monitor);
  for (std::size_t pages = 1; pages <= 64; ++pages)
    ASSERT_TRUE(cache.acquire(memory.pages(0, pages)));
  EXPECT_EQ(device.size(), 1u);
}

TEST_F(RegistrationCache, AWalkInStepsRegistersEachPageAtMostTwice) {
  registration_cache cache(device, monitor);
  constexpr std::size_t step = 3 * device_page + 1000;
  for (std::size_t at = 0; at + step < 64 * device_page; at += step)
    ASSERT_TRUE(cache.acquire(memory.at(at, step)));
  EXPECT_LE(device.bytes_in_all(), 2 * 64 * device_page);
}

TEST_F(RegistrationCache, WhatWasReplacedLivesUntilItsLeasesEndAndMayBeShared) {
  registration_cache cache(device, monitor);
  lease small = cache.acquire(memory.pages(0, 4));
  lease large = cache.acquire(memory.pages(0, 8));
  EXPECT_NE(small.handle(), large.handle());
  EXPECT_EQ(device.size(), 2u);
  EXPECT_EQ(cache.acquire(memory.pages(1, 1)).handle(), large.handle());
  small.release();
  EXPECT_EQ(device.size(), 1u);
}

TEST_F(RegistrationCache, TheEntryOfWhatWasReplacedServesAgain) {
  registration_cache cache(device, monitor, {.entries = 2});
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(cache.acquire(memory.pages(8 * i, 2)));
    ASSERT_TRUE(cache.acquire(memory.pages(8 * i, 4)));
    ASSERT_TRUE(cache.acquire(memory.pages(8 * i, 1)));
  }
  EXPECT_EQ(cache.counters().hits, 8u);
}

TEST_F(RegistrationCache, IfTheUnionIsRefusedTheRequestItselfIsMade) {
  device.refuses = [](bytes pages) { return pages.size() > 4 * device_page; };
  registration_cache cache(device, monitor);
  const auto low = cache.acquire(memory.pages(0, 4)).handle();
  const lease high = cache.acquire(memory.pages(2, 4));
  EXPECT_EQ(device.pages_of(high.handle()).data(), memory.pages(2, 1).data());
  EXPECT_EQ(cache.acquire(memory.pages(0, 3)).handle(), low);
}

// --- no room ---------------------------------------------------------------------------

TEST_F(RegistrationCache, EvictsWhatWasNotUsedForLongest) {
  registration_cache cache(device, monitor, {.entries = 3});
  const auto a = cache.acquire(memory.pages(0, 1)).handle();
  const auto b = cache.acquire(memory.pages(2, 1)).handle();
  const auto c = cache.acquire(memory.pages(4, 1)).handle();
  { const lease again = cache.acquire(memory.pages(0, 1)); }
  { const lease fourth = cache.acquire(memory.pages(6, 1)); }
  EXPECT_TRUE(device.pages_of(b).empty());
  EXPECT_FALSE(device.pages_of(a).empty());
  { const lease fifth = cache.acquire(memory.pages(8, 1)); }
  EXPECT_TRUE(device.pages_of(c).empty() || device.pages_of(a).empty());
  EXPECT_EQ(cache.counters().evictions, 2u);
  EXPECT_EQ(device.size(), 3u);
}

TEST_F(RegistrationCache, EvictsNothingThatIsLeasedAndSaysWhenItIsFull) {
  registration_cache cache(device, monitor, {.entries = 2});
  const lease a = cache.acquire(memory.pages(0, 1));
  lease b = cache.acquire(memory.pages(2, 1));
  const lease c = cache.acquire(memory.pages(4, 1));
  EXPECT_FALSE(c);
  EXPECT_EQ(c.why(), failure::full);
  EXPECT_EQ(cache.counters().refused, 1u);
  b.release();
  EXPECT_TRUE(cache.acquire(memory.pages(4, 1)));
  EXPECT_TRUE(device.is_current(a.handle(), a.offset(), memory.pages(0, 1)));
}

TEST_F(RegistrationCache, StaysWithinItsBytesWhereLeasesAllow) {
  registration_cache cache(device, monitor, {.bytes = 4 * device_page});
  { const lease a = cache.acquire(memory.pages(0, 3)); }
  { const lease b = cache.acquire(memory.pages(8, 2)); }
  EXPECT_EQ(device.size(), 1u);
  const lease large = cache.acquire(memory.pages(16, 8));  // more than allowed, but asked for
  ASSERT_TRUE(large);
  const lease more = cache.acquire(memory.pages(32, 1));
  EXPECT_TRUE(more);
  EXPECT_EQ(device.size(), 2u);
}

TEST_F(RegistrationCache, EvictsAndTriesAgainWhenTheDevicesTableIsFull) {
  device.capacity = 2;
  registration_cache cache(device, monitor);
  for (std::size_t i = 0; i < 20; ++i) ASSERT_TRUE(cache.acquire(memory.pages(2 * i, 1))) << i;
  EXPECT_EQ(cache.counters().evictions, 18u);
  const lease a = cache.acquire(memory.pages(50, 1)), b = cache.acquire(memory.pages(52, 1));
  EXPECT_EQ(cache.acquire(memory.pages(54, 1)).why(), failure::full);
}

TEST_F(RegistrationCache, ARefusalEvictsNothing) {
  device.refuses = [&](bytes pages) { return pages.data() == memory.pages(9, 1).data(); };
  registration_cache cache(device, monitor);
  const auto kept = cache.acquire(memory.pages(0, 1)).handle();
  device.refuses = [](bytes) { return true; };
  EXPECT_EQ(cache.acquire(memory.pages(9, 1)).why(), failure::refused);
  EXPECT_EQ(cache.acquire(memory.pages(0, 1)).handle(), kept);
}

TEST_F(RegistrationCache, RefusesWhatIsNoMemory) {
  registration_cache cache(device, monitor);
  EXPECT_FALSE(cache.acquire({}));
  const auto* const high = reinterpret_cast<const std::byte*>(UINTPTR_MAX - 10);
  EXPECT_FALSE(cache.acquire({high, 5}));
  EXPECT_FALSE(cache.acquire({high, SIZE_MAX}));
  EXPECT_EQ(device.registrations(), 0u);
}

TEST_F(RegistrationCache, RefusesLimitsThatMakeNoSense) {
  EXPECT_THROW(registration_cache(device, monitor, {.page_bytes = 1000}), error);
  EXPECT_THROW(registration_cache(device, monitor, {.page_bytes = 1024}), error);
  EXPECT_THROW(registration_cache(device, monitor, {.entries = 0}), error);
  EXPECT_THROW(registration_cache(device, monitor, {.entries = 16385}), error);
}

// --- ending ----------------------------------------------------------------------------

TEST_F(RegistrationCache, InvalidateUndoesAtOnceWhatIsNotLeased) {
  registration_cache cache(device, monitor);
  { const lease a = cache.acquire(memory.pages(0, 2)); }
  { const lease b = cache.acquire(memory.pages(4, 2)); }
  cache.invalidate(memory.pages(1, 1).first(1));
  EXPECT_EQ(device.size(), 1u);
  EXPECT_EQ(cache.counters().invalidations, 1u);
  { const lease a = cache.acquire(memory.pages(0, 2)); }
  EXPECT_EQ(cache.counters().misses, 3u);
}

TEST_F(RegistrationCache, InvalidateLeavesWhatOnlyTouches) {
  registration_cache cache(device, monitor);
  { const lease a = cache.acquire(memory.pages(2, 2)); }
  cache.invalidate(memory.pages(0, 2));
  cache.invalidate(memory.pages(4, 2));
  EXPECT_EQ(cache.counters().invalidations, 0u);
}

TEST_F(RegistrationCache, WhatIsInvalidatedWhileLeasedIsUndoneByTheLastLease) {
  registration_cache cache(device, monitor);
  registration_cache::hint last;
  lease first = cache.acquire(memory.pages(0, 2), last);
  lease second = cache.acquire(memory.pages(0, 1), last);
  const auto old = first.handle();
  cache.invalidate(memory.pages(0, 1));
  EXPECT_EQ(device.size(), 1u);
  const lease fresh = cache.acquire(memory.pages(0, 1), last);
  EXPECT_NE(fresh.handle(), old);
  first.release();
  EXPECT_FALSE(device.pages_of(old).empty());
  second.release();
  EXPECT_TRUE(device.pages_of(old).empty());
}

TEST_F(RegistrationCache, NeverHasTheSamePagesTwiceNotEvenAfterAnInvalidation) {
  registration_cache cache(device, monitor);
  const lease old = cache.acquire(memory.pages(4, 2));
  cache.invalidate(memory.pages(4, 2));
  const lease fresh = cache.acquire(memory.pages(4, 2));  // a page more, then
  ASSERT_TRUE(fresh);
  EXPECT_NE(fresh.handle(), old.handle());
  EXPECT_GT(device.pages_of(fresh.handle()).size(), 2 * device_page);
  EXPECT_EQ(device.complaint(), "");
}

TEST_F(RegistrationCache, SaysSoIfThereIsNoOtherWayThanTheSamePagesTwice) {
  device.refuses = [&](bytes pages) { return pages.size() != 2 * device_page; };
  registration_cache cache(device, monitor);
  lease old = cache.acquire(memory.pages(4, 2));
  cache.invalidate(memory.pages(4, 2));
  EXPECT_EQ(cache.acquire(memory.pages(4, 2)).why(), failure::conflict);
  old.release();
  EXPECT_TRUE(cache.acquire(memory.pages(4, 2)));
}

TEST_F(RegistrationCache, WhatChangedWhileItWasRegisteredIsForOneLeaseOnly) {
  registration_cache cache(device, monitor);
  device.while_registering = [&] {
    monitor->begin(reinterpret_cast<std::uintptr_t>(memory.pages(1, 1).data()),
                   reinterpret_cast<std::uintptr_t>(memory.pages(2, 1).data()));
    monitor->end();
  };
  const lease untouched = cache.acquire(memory.pages(8, 4));
  lease doubtful = cache.acquire(memory.pages(0, 4));
  device.while_registering = [] {};
  ASSERT_TRUE(doubtful);
  EXPECT_NE(cache.acquire(memory.pages(0, 3)).handle(), doubtful.handle());
  EXPECT_EQ(cache.acquire(memory.pages(8, 4)).handle(), untouched.handle());
  const auto handle = doubtful.handle();
  doubtful.release();
  EXPECT_TRUE(device.pages_of(handle).empty());
}

TEST_F(RegistrationCache, FlushUndoesWhatIsNotLeased) {
  registration_cache cache(device, monitor);
  const lease held = cache.acquire(memory.pages(0, 1));
  { const lease other = cache.acquire(memory.pages(2, 1)); }
  cache.flush();
  EXPECT_EQ(device.size(), 1u);
  EXPECT_EQ(cache.acquire(memory.pages(0, 1)).handle(), held.handle());
}

TEST_F(RegistrationCache, ItsEndUndoesEverything) {
  {
    registration_cache cache(device, monitor);
    for (std::size_t i = 0; i < 10; ++i) ASSERT_TRUE(cache.acquire(memory.pages(3 * i, 1)));
  }
  EXPECT_EQ(device.size(), 0u);
}

TEST_F(RegistrationCache, LeasesMove) {
  registration_cache cache(device, monitor);
  lease a = cache.acquire(memory.pages(0, 1));
  lease b = std::move(a);
  EXPECT_FALSE(a);
  a = std::move(b);
  EXPECT_TRUE(a);
  a = {};
  cache.flush();
  EXPECT_EQ(device.size(), 0u);
}

// --- off -------------------------------------------------------------------------------

TEST_F(RegistrationCache, WithoutAMonitorEachReleaseUndoes) {
  registration_cache cache(device, nullptr);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(cache.acquire(memory.pages(0, 1)));
    EXPECT_EQ(device.size(), 0u);
  }
  EXPECT_EQ(cache.counters().misses, 3u);
}

TEST_F(RegistrationCache, WithoutAMonitorLeasesOfTheSamePagesShare) {
  registration_cache cache(device, nullptr);
  registration_cache::hint last;
  lease a = cache.acquire(memory.pages(0, 2), last);
  lease b = cache.acquire(memory.pages(0, 2), last);
  const lease c = cache.acquire(memory.pages(1, 1), last);
  EXPECT_EQ(a.handle(), b.handle());
  EXPECT_EQ(a.handle(), c.handle());
  a.release();
  b.release();
  EXPECT_EQ(device.size(), 1u);
}

TEST_F(RegistrationCache, WhatTheMonitorCannotWatchEndsWithItsLeases) {
  registration_cache cache(device, monitor);
  const lease nowhere = cache.acquire({reinterpret_cast<std::byte*>(device_page), 100});
  EXPECT_TRUE(nowhere);  // this device takes anything
  const auto handle = nowhere.handle();
  const_cast<lease&>(nowhere).release();
  EXPECT_TRUE(device.pages_of(handle).empty());
}

}  // namespace
}  // namespace heddle::memory
