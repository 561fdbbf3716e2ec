// SPDX-License-Identifier: BSD-3-Clause
// unmap_monitor_test.cpp - the monitor itself: what it leaves to others, and how many it serves.
#include "memory/unmap_monitor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "support/unmapping.h"

#ifdef __SANITIZE_ADDRESS__
// No look for leaks at the end of this program: the sanitizer stops all threads for it, of which
// the monitor's may be ending just then, and crashed over that itself in one of some thousand runs.
extern "C" int __lsan_is_turned_off() {
  return 1;
}
#endif

namespace heddle::memory {
namespace {

TEST_F(UnmapMonitor, WhatIsUnmappedIsSoonNotRegisteredEither) {
  void* const at = map_private();
  name_pages(at);
  ASSERT_TRUE(is_right(at));
  EXPECT_EQ(device.size(), 1u);
  munmap(at, size);
  while (device.size() != 0) std::this_thread::yield();
}

TEST_F(UnmapMonitor, WhatIsUnmappedWhileLeasedStaysRegistered) {
  void* const at = map_private();
  name_pages(at);
  auto lease = cache->acquire(span_of(at));
  munmap(at, size);
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_EQ(device.size(), 1u);
  lease.release();
  EXPECT_EQ(device.size(), 0u);
}

/// As a device's library may, under the cache's mutex; and allocators unmap under locks of theirs.
TEST_F(UnmapMonitor, ARegistrarMayUnmapWhatIsCached) {
  void* scratch = map_private();
  name_pages(scratch);
  ASSERT_TRUE(is_right(scratch));
  device.while_registering = [&] { munmap(scratch, size); };
  void* const at = map_private();
  name_pages(at);
  ASSERT_TRUE(is_right(at));
  device.while_registering = [] {};
  ASSERT_TRUE(is_right(at));
  EXPECT_EQ(cache->counters().misses, 2u);
  munmap(at, size);
}

TEST_F(UnmapMonitor, FilesAreCachedIfTheKernelCanAndLeasedAnyway) {
  const unique_fd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  void* const at = map_at(nullptr, MAP_PRIVATE, file.get());
  name_pages(at);
  EXPECT_TRUE(is_right(at));
  munmap(at, size);
  EXPECT_EQ(map_private(at), at);
  name_pages(at);
  EXPECT_TRUE(is_right(at));
  munmap(at, size);
}

TEST_F(UnmapMonitor, ErrnoOfTheCallIsTheCallers) {
  errno = 0;
  EXPECT_EQ(munmap(reinterpret_cast<void*>(1), size), -1);
  EXPECT_EQ(errno, EINVAL);
  void* const at = map_private();
  name_pages(at);
  ASSERT_TRUE(is_right(at));
  errno = 77;
  EXPECT_EQ(munmap(at, size), 0);
  EXPECT_EQ(errno, 77);
}

TEST_F(UnmapMonitor, TheChildOfAForkHasNone) {
  void* const at = map_private();
  name_pages(at);
  ASSERT_TRUE(is_right(at));
  const pid_t child = fork();
  if (child == 0) {
    const bool none =
        unmap_monitor::running() == nullptr && unmap_monitor::start("auto") == nullptr;
    munmap(at, size);  // disturbs nobody
    _exit(none && !cache->acquire(span_of(&child, sizeof(child))) ? 0 : 1);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_EQ(how, 0);
  EXPECT_EQ(cache->counters().invalidations, 0u);
  EXPECT_TRUE(is_right(at));
  expect_noticed(at, [&] {
    munmap(at, size);
    ASSERT_EQ(map_private(at), at);
  });
  munmap(at, size);
}

TEST_F(UnmapMonitor, IsOnePerProcessAndSaysWhatItIs) {
  EXPECT_EQ(unmap_monitor::start("auto"), monitor);
  EXPECT_EQ(unmap_monitor::start("off"), nullptr);
  EXPECT_EQ(unmap_monitor::probe("off").method, unmap_method::none);
  EXPECT_NE(monitor->report().method, unmap_method::none);
  EXPECT_FALSE(monitor->report().why.empty());
}

TEST_F(UnmapMonitor, ServesManyCachesAndRefusesMoreThanItCan) {
  void* const at = map_private();
  name_pages(at);
  std::vector<std::unique_ptr<fake_registrar>> devices;
  std::vector<std::unique_ptr<registration_cache>> caches;
  for (int i = 0; i < 300; ++i) {
    devices.push_back(std::make_unique<fake_registrar>());
    caches.push_back(std::make_unique<registration_cache>(
        *devices.back(), monitor, cache_limits{.page_bytes = page_bytes, .entries = 4}));
    ASSERT_TRUE(caches.back()->acquire(span_of(at)));
  }
  EXPECT_EQ(devices[100]->size(), 1u);
  EXPECT_EQ(devices[299]->size(), 0u);  // keeps nothing
  munmap(at, size);
  for (const auto& d : devices)
    while (d->size() != 0) std::this_thread::yield();
}

}  // namespace
}  // namespace heddle::memory
