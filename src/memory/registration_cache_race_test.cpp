// SPDX-License-Identifier: BSD-3-Clause
// registration_cache_race_test.cpp - many threads on one cache, and memory that comes and goes.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "memory/registration_cache.h"
#include "support/fake_registrar.h"
#include "support/scale.h"

namespace heddle::memory {
namespace {

using test::fake_registrar;
using test::page_bytes;
using failure = registration_cache::failure;

constexpr int threads = 4;

/// Runs `body` on each of a few threads, with its number.
template <class F>
void on_threads(F body) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back([t, &body] { body(t); });
  for (std::thread& t : all) t.join();
}

class RegistrationCacheRaces : public testing::Test {
 protected:
  void SetUp() override {
    if (monitor == nullptr) GTEST_SKIP() << unmap_monitor::probe("auto").why;
  }
  void TearDown() override {
    EXPECT_EQ(device.complaint(), "");
    EXPECT_EQ(wrong.load(), 0);
  }

  /// Acquires `memory` and complains of a lease on other pages.
  void use(registration_cache& cache, std::span<const std::byte> memory,
           registration_cache::hint& last) {
    const auto lease = cache.acquire(memory, last);
    if (!lease) {
      wrong += lease.why() == failure::refused;  // full and conflict may be
      return;
    }
    wrong += !device.is_current(lease.handle(), lease.offset(), memory);
  }

  fake_registrar device;
  unmap_monitor* monitor = unmap_monitor::start("auto");
  std::atomic<int> wrong{0};
};

TEST_F(RegistrationCacheRaces, HitsMissesEvictionsAndInvalidationsAtOnce) {
  constexpr std::size_t pages = 256;
  void* const at =
      mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::span<const std::byte> memory{static_cast<std::byte*>(at), pages * page_bytes};
  {
    registration_cache cache(device, monitor, {.page_bytes = page_bytes, .entries = 12});
    on_threads([&](int t) {
      std::minstd_rand random(static_cast<unsigned>(t) + 1);
      registration_cache::hint last;
      for (int i = 0; i < test::scaled(20'000); ++i) {
        const std::size_t from = random() % (pages - 16) * page_bytes;
        const auto piece = memory.subspan(from, (1 + random() % 16) * page_bytes);
        switch (random() % 64) {
          case 0:
            cache.invalidate(piece);
            break;
          case 1:
            cache.flush();
            break;
          default:
            use(cache, piece.first(1 + random() % piece.size()), last);
            use(cache, piece, last);
        }
      }
    });
    cache.flush();
    EXPECT_EQ(device.size(), 0u);
    EXPECT_GT(cache.counters().hits, 0u);
    EXPECT_GT(cache.counters().evictions, 0u);
  }
  munmap(at, pages * page_bytes);
}

TEST_F(RegistrationCacheRaces, LeasesOfOneRegistrationComeAndGoWhileItEnds) {
  void* const at =
      mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::span<const std::byte> memory{static_cast<std::byte*>(at), page_bytes};
  {
    registration_cache cache(device, monitor, {.page_bytes = page_bytes});
    on_threads([&](int t) {
      registration_cache::hint last;
      for (int i = 0; i < test::scaled(30'000); ++i) {
        if (t == 0) cache.invalidate(memory);
        use(cache, memory, last);
      }
    });
    cache.invalidate(memory);
    EXPECT_EQ(device.size(), 0u);  // whoever was last has cleared away
  }
  munmap(at, page_bytes);
}

TEST_F(RegistrationCacheRaces, WithoutAMonitorNothingIsLeftOver) {
  void* const at =
      mmap(nullptr, 8 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  registration_cache cache(device, nullptr, {.page_bytes = page_bytes});
  on_threads([&](int t) {
    registration_cache::hint last;
    for (int i = 0; i < test::scaled(10'000); ++i) {
      const auto pages = static_cast<std::size_t>(1 + (i + t) % 3);
      use(cache, {static_cast<std::byte*>(at), pages * page_bytes}, last);
    }
  });
  EXPECT_EQ(device.size(), 0u);
  munmap(at, 8 * page_bytes);
}

// --- memory that goes ------------------------------------------------------------------

/// A number no page had before, at the beginning of each page.
void name_pages(std::span<std::byte> memory) {
  static std::atomic<std::uint64_t> last{0};
  const std::uint64_t name = ++last;
  for (std::size_t i = 0; i < memory.size(); i += page_bytes)
    std::memcpy(memory.data() + i, &name, sizeof(name));
}

/// Addresses that one thread gives back are another one's a moment later.
TEST_F(RegistrationCacheRaces, NoLeaseIsOnPagesThatAnotherThreadUnmapped) {
  device.reads_pages = true;
  {
    registration_cache cache(device, monitor, {.page_bytes = page_bytes, .entries = 64});
    on_threads([&](int t) {
      std::minstd_rand random(static_cast<unsigned>(t) + 1);
      registration_cache::hint last;
      for (int i = 0; i < test::scaled(4'000); ++i) {
        const std::size_t bytes = (1 + random() % 4) * page_bytes;
        void* const at =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const std::span<std::byte> memory{static_cast<std::byte*>(at), bytes};
        name_pages(memory);
        use(cache, memory, last);
        use(cache, memory.subspan(random() % bytes), last);
        munmap(at, bytes);
      }
    });
    EXPECT_GT(cache.counters().invalidations, 0u);
  }
  EXPECT_EQ(device.size(), 0u);
}

/// By system calls that only the kernel tells of; each thread keeps to its own addresses.
TEST_F(RegistrationCacheRaces, NoLeaseIsOnPagesThatOnlyTheKernelSawGo) {
  if (monitor->report().method != unmap_method::kernel) GTEST_SKIP() << "it does not tell";
  device.reads_pages = true;
  constexpr std::size_t bytes = 4 * page_bytes;
  {
    registration_cache cache(device, monitor, {.page_bytes = page_bytes, .entries = 64});
    on_threads([&](int t) {
      std::minstd_rand random(static_cast<unsigned>(t) + 1);
      registration_cache::hint last;
      void* const at =
          mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      const std::span<std::byte> memory{static_cast<std::byte*>(at), bytes};
      for (int i = 0; i < test::scaled(3'000); ++i) {
        name_pages(memory);
        use(cache, memory, last);
        use(cache, memory.subspan(random() % bytes), last);
        const auto map_over = [&] {
          syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        };
        switch (random() % 3) {
          case 0:
            syscall(SYS_madvise, at, bytes, MADV_DONTNEED);
            break;
          case 1: {
            // Its own address again, at once: nobody else may have it.
            void* const moved = reinterpret_cast<void*>(
                syscall(SYS_mremap, at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0));
            munmap(moved, bytes);
            break;
          }
          default:
            map_over();
        }
      }
      munmap(at, bytes);
    });
    EXPECT_GT(cache.counters().invalidations, 0u);
  }
  EXPECT_EQ(device.size(), 0u);
}

TEST_F(RegistrationCacheRaces, CachesComeAndGoWhileMemoryDoes) {
  device.reads_pages = true;
  on_threads([&](int t) {
    for (int i = 0; i < test::scaled(500); ++i) {
      void* const at =
          mmap(nullptr, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      const std::span<std::byte> memory{static_cast<std::byte*>(at), 2 * page_bytes};
      name_pages(memory);
      fake_registrar mine;
      mine.reads_pages = true;
      {
        registration_cache cache(mine, monitor, {.page_bytes = page_bytes, .entries = 4});
        registration_cache::hint last;
        const auto lease = cache.acquire(memory, last);
        wrong += !mine.is_current(lease.handle(), lease.offset(), memory);
        if (t % 2 == 0) munmap(at, 2 * page_bytes);
      }
      wrong += mine.size() != 0;
      if (t % 2 != 0) munmap(at, 2 * page_bytes);
    }
  });
}

}  // namespace
}  // namespace heddle::memory
