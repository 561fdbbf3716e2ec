// SPDX-License-Identifier: BSD-3-Clause
// unmapping_test.cpp - each way in which memory can go, and what a cache still gives out then.
#include "support/unmapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "support/scale.h"

namespace heddle::memory {
namespace {

// --- by libc's functions, as programs call them ----------------------------------------

TEST_F(UnmapMonitor, NoticesMunmap) {
  void* const at = map_private();
  expect_noticed(at, [&] {
    munmap(at, size);
    ASSERT_EQ(map_private(at), at);
  });
  munmap(at, size);
}

TEST_F(UnmapMonitor, NoticesThatAPartIsUnmapped) {
  void* const at = map_private();
  expect_noticed(at, [&] {
    auto* const middle = static_cast<std::byte*>(at) + 4 * page_bytes;
    munmap(middle, 1);
    ASSERT_NE(mmap(middle, page_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
  });
  munmap(at, size);
}

TEST_F(UnmapMonitor, NoticesAMappingOverIt) {
  void* const at = map_private();
  expect_noticed(at, [&] { ASSERT_EQ(map_private(at), at); });
  munmap(at, size);
}

TEST_F(UnmapMonitor, NoticesMemoryThatMoves) {
  void* const at = map_private();
  expect_noticed(at, [&] {
    void* const elsewhere = map_private();
    ASSERT_EQ(mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere), elsewhere);
    ASSERT_EQ(map_private(at), at);
    munmap(elsewhere, size);
  });
  munmap(at, size);
}

TEST_F(UnmapMonitor, NoticesMemoryThatMovesOverIt) {
  void* const at = map_private();
  expect_noticed(at, [&] {
    void* const other = map_private();
    ASSERT_EQ(mremap(other, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at), at);
  });
  munmap(at, size);
}

TEST_F(UnmapMonitor, NoticesThatHugePagesGo) {
  constexpr std::size_t huge = 2u << 20;
  const auto map_huge = [](void* where) {
    return mmap(where, 2 * huge, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED, -1, 0);
  };
  void* const at = map_huge(lonely_place());
  if (at == MAP_FAILED) GTEST_SKIP() << "there are none (/proc/sys/vm/nr_hugepages)";
  expect_noticed(
      static_cast<std::byte*>(at) + huge - page_bytes,
      [&] {
        munmap(at, 2 * huge);
        ASSERT_EQ(map_huge(at), at);
      },
      2 * page_bytes);
  munmap(at, 2 * huge);
}

/// Watching a part of a mapping makes two of it for the kernel, which grows only one at a time.
TEST_F(UnmapMonitor, WatchedMemoryCanGrowAndMove) {
  void* const at = map_private();
  name_pages(at);
  ASSERT_TRUE(is_right(static_cast<std::byte*>(at) + page_bytes, 100));
  void* const moved = mremap(at, size, 64 * size, MREMAP_MAYMOVE);
  ASSERT_NE(moved, MAP_FAILED);
  name_pages(moved);
  EXPECT_TRUE(is_right(moved));
  munmap(moved, 64 * size);
}

TEST_F(UnmapMonitor, NoticesPagesGivenBackByMadvise) {
  void* const at = map_private();
  expect_noticed(at, [&] { ASSERT_EQ(madvise(at, size, MADV_DONTNEED), 0); });
  expect_noticed(at, [&] {
    ASSERT_EQ(madvise(at, size, MADV_FREE), 0);
    ASSERT_EQ(madvise(at, size, MADV_DONTNEED), 0);  // the kernel frees when it likes
  });
  munmap(at, size);
}

TEST_F(UnmapMonitor, NoticesAHoleInSharedMemory) {
  const unique_fd file(memfd_create("unmap-test", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), size), 0);
  void* const at = map_at(nullptr, MAP_SHARED, file.get());
  expect_noticed(at, [&] { ASSERT_EQ(madvise(at, size, MADV_REMOVE), 0); });
  munmap(at, size);
}

TEST_F(UnmapMonitor, NoticesSegmentsThatAreDetached) {
  const int segment = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
  const int another = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
  ASSERT_GE(segment, 0);
  void* const at = shmat(segment, lonely_place(), 0);
  expect_noticed(at, [&] {
    ASSERT_EQ(shmdt(at), 0);
    ASSERT_EQ(shmat(another, at, 0), at);
  });
  expect_noticed(at, [&] { ASSERT_EQ(shmat(segment, at, SHM_REMAP), at); });
  shmdt(at);
  shmctl(segment, IPC_RMID, nullptr);
  shmctl(another, IPC_RMID, nullptr);
}

TEST_F(UnmapMonitor, NoticesTheHeapShrink) {
  if (!kernel_tells()) GTEST_SKIP() << "libc's own";
  const auto page_end = [](void* at) {
    return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(at) + page_bytes - 1) &
                                   ~(page_bytes - 1));
  };
  ASSERT_EQ(brk(page_end(sbrk(0))), 0);
  void* const at = sbrk(size);
  expect_noticed(at, [&] {
    sbrk(-static_cast<std::intptr_t>(size));
    ASSERT_EQ(sbrk(size), at);
  });
  sbrk(-static_cast<std::intptr_t>(size));
}

// --- by malloc -------------------------------------------------------------------------

TEST_F(UnmapMonitor, NoticesThatFreeUnmaps) {
  if (!kernel_tells()) GTEST_SKIP() << "libc's own";
  constexpr std::size_t large = 64u << 20;  // above any threshold of malloc's
  int same = 0;
  std::uintptr_t before = 0;
  for (int i = 0; i < 20; ++i) {
    void* const at = std::malloc(large);
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    same += address == std::exchange(before, address);
    name_fresh_pages(at, 4 * page_bytes);
    ASSERT_TRUE(is_right(at, 3 * page_bytes)) << i;
    ASSERT_TRUE(is_right(static_cast<std::byte*>(at) + page_bytes, 100)) << i;
    std::free(at);
  }
  EXPECT_TRUE(test::sanitized || same > 0);
}

TEST_F(UnmapMonitor, NoticesThatReallocMoves) {
  if (!kernel_tells()) GTEST_SKIP() << "libc's own";
  constexpr std::size_t step = 8u << 20;
  void* at = std::malloc(step);
  name_fresh_pages(at, 4 * page_bytes);
  for (std::size_t i = 2; i < 8; ++i) {
    ASSERT_TRUE(is_right(at, 3 * page_bytes)) << i;
    void* const before = at;
    at = std::realloc(at, i * step);
    if (at != before) name_pages(at, 4 * page_bytes);  // names move along, and may come back
    ASSERT_TRUE(is_right(at, 3 * page_bytes)) << i;
  }
  std::free(at);
}

TEST_F(UnmapMonitor, NoticesWhatTheArenaOfAThreadGivesBack) {
  if (!kernel_tells()) GTEST_SKIP() << "libc's own";
  constexpr std::size_t block = 100'000;
  std::vector<void*> blocks(64);
  for (int round = 0; round < 20; ++round) {
    // Nothing else is in that arena, or it would stay above the blocks and keep them.
    std::thread([&] {
      for (void*& at : blocks) name_fresh_pages(at = std::malloc(block), block);
    }).join();
    for (void* const at : blocks) ASSERT_TRUE(is_right(at, block)) << round;
    std::thread([&] {
      for (void* const at : blocks) std::free(at);
    }).join();
  }
  EXPECT_TRUE(test::sanitized || cache->counters().invalidations > 0);
}

// --- past libc -------------------------------------------------------------------------

TEST_F(UnmapMonitor, NoticesSystemCallsThatNobodySaw) {
  if (!kernel_tells()) GTEST_SKIP() << "only the kernel tells of these";
  void* const at = map_private();
  expect_noticed(at, [&] {
    syscall(SYS_munmap, at, size);
    ASSERT_EQ(map_private(at), at);
  });
  expect_noticed(at, [&] { syscall(SYS_madvise, at, size, MADV_DONTNEED); });
  expect_noticed(at, [&] {
    ASSERT_EQ(syscall(SYS_mmap, at, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              reinterpret_cast<long>(at));
  });
  munmap(at, size);
}

/// The kernel lets munmap() return when the news is taken, not when it is understood.
TEST_F(UnmapMonitor, GivesOutNothingOldBetweenTheNewsAndItsEnd) {
  if (!kernel_tells()) GTEST_SKIP() << "only the kernel tells of these";
  // Others to look through, so that understanding takes its time.
  std::vector<std::unique_ptr<registration_cache>> others;
  void* const much =
      mmap(nullptr, 4096 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 4; ++i) {
    others.push_back(std::make_unique<registration_cache>(device, monitor,
                                                          cache_limits{.page_bytes = page_bytes}));
    device.reads_pages = false;
    for (std::size_t n = 0; n < 250; ++n)
      ASSERT_TRUE(others.back()->acquire(
          {static_cast<std::byte*>(much) + (8 * n + static_cast<std::size_t>(i) * 2) * page_bytes,
           1}));
  }
  device.reads_pages = true;
  // The one that matters is told last.
  cache.reset();
  cache =
      std::make_unique<registration_cache>(device, monitor, cache_limits{.page_bytes = page_bytes});
  void* const at = map_private();
  registration_cache::hint last;
  for (int i = 0; i < 2000; ++i) {
    name_pages(at);
    const auto lease = cache->acquire(span_of(at), last);
    ASSERT_TRUE(lease);
    ASSERT_TRUE(device.is_current(lease.handle(), lease.offset(), span_of(at))) << i;
    syscall(SYS_munmap, at, size);
    ASSERT_EQ(syscall(SYS_mmap, at, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              reinterpret_cast<long>(at));
  }
  munmap(at, size);
  munmap(much, 4096 * page_bytes);
}

}  // namespace
}  // namespace heddle::memory
