// SPDX-License-Identifier: BSD-3-Clause
// unmapping.h - memory whose pages have names, and a cache that must notice when they go.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>

#include "memory/registration_cache.h"
#include "memory/unmap_monitor.h"
#include "support/fake_registrar.h"

namespace heddle::memory {

using test::fake_registrar;
using test::page_bytes;

inline constexpr std::size_t size = 16 * page_bytes;

/// Writes a name no page had before at the beginning of each page inside.
inline void name_pages(void* at, std::size_t bytes = size, bool only_fresh = false) {
  static std::uint64_t last = 0;
  ++last;
  auto* const begin = static_cast<std::byte*>(at);
  const std::size_t skip = -reinterpret_cast<std::uintptr_t>(at) % page_bytes;
  for (std::size_t i = skip; i + sizeof(last) <= bytes; i += page_bytes) {
    std::uint64_t now = 0;
    std::memcpy(&now, begin + i, sizeof(now));
    if (!only_fresh || now == 0) std::memcpy(begin + i, &last, sizeof(last));
  }
}
/// The same where the kernel has put new pages, which are zero: malloc may or may not have some.
inline void name_fresh_pages(void* at, std::size_t bytes) {
  name_pages(at, bytes, true);
}

/// An address where nothing is, far below where the kernel puts what asks for no place. So nobody
/// else's memory comes into a hole that a test leaves for a moment.
inline void* lonely_place() {
  static std::uintptr_t next = 0x7e90'0000'0000;
  return reinterpret_cast<void*>(next += 1u << 30);
}
inline void* map_at(void* where, int flags, int file = -1) {
  return mmap(where, size, PROT_READ | PROT_WRITE, flags, file, 0);
}
inline void* map_private(void* where = nullptr) {
  if (where == nullptr) return map_at(lonely_place(), MAP_PRIVATE | MAP_ANONYMOUS);
  return map_at(where, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
}

inline std::span<const std::byte> span_of(const void* at, std::size_t bytes = size) {
  return {static_cast<const std::byte*>(at), bytes};
}

class UnmapMonitor : public testing::Test {
 protected:
  void SetUp() override {
    if (monitor == nullptr) GTEST_SKIP() << unmap_monitor::probe("auto").why;
    device.reads_pages = true;
    cache = std::make_unique<registration_cache>(device, monitor,
                                                 cache_limits{.page_bytes = page_bytes});
  }
  void TearDown() override { EXPECT_EQ(device.complaint(), ""); }

  /// A lease on the memory at `at` is for the pages that are there now.
  testing::AssertionResult is_right(const void* at, std::size_t bytes = size) {
    const auto lease = cache->acquire(span_of(at, bytes));
    if (!lease) return testing::AssertionFailure() << "no lease";
    if (device.is_current(lease.handle(), lease.offset(), span_of(at, bytes)))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << "a lease on pages that are gone";
  }
  /// Caches memory at `at`, does `change`, which leaves something mapped there, and looks.
  void expect_noticed(void* at, const std::function<void()>& change, std::size_t bytes = size) {
    cache->invalidate(span_of(at, bytes));
    name_pages(at, bytes);
    ASSERT_TRUE(is_right(at, bytes));
    const auto misses = cache->counters().misses;
    ASSERT_TRUE(is_right(at, bytes));
    ASSERT_EQ(cache->counters().misses, misses) << "is not cached";
    change();
    name_pages(at, bytes);
    EXPECT_TRUE(is_right(at, bytes));
  }

  unmap_monitor* monitor = unmap_monitor::start("auto");
  fake_registrar device;
  std::unique_ptr<registration_cache> cache;
};

inline bool kernel_tells() {
  return unmap_monitor::probe("auto").method == unmap_method::kernel;
}

}  // namespace heddle::memory
