// SPDX-License-Identifier: BSD-3-Clause
// unmap_hooks_test.cpp - the hooks by themselves, as where the kernel tells of nothing.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/unmapping.h"

namespace heddle::memory {
namespace {

class UnmapHooks : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(monitor, nullptr);
    device.reads_pages = true;
    cache = std::make_unique<registration_cache>(device, monitor,
                                                 cache_limits{.page_bytes = page_bytes});
  }
  /// Caches memory at `at`, does `change`. True: the cache has forgotten it.
  bool is_noticed(void* at, const std::function<void()>& change) {
    cache->invalidate(span_of(at));
    EXPECT_TRUE(cache->acquire(span_of(at)));
    const auto before = cache->counters().invalidations;
    change();
    return cache->counters().invalidations > before;
  }

  unmap_monitor* monitor = unmap_monitor::start("hooks");
  fake_registrar device;
  std::unique_ptr<registration_cache> cache;
};

TEST_F(UnmapHooks, HearTheProgramUnmapMapOverMoveAndGiveBack) {
  void* const at = map_private();
  EXPECT_TRUE(is_noticed(at, [&] {
    munmap(at, size);
    map_private(at);
  }));
  EXPECT_TRUE(is_noticed(at, [&] { map_private(at); }));
  EXPECT_TRUE(is_noticed(at, [&] { madvise(at, size, MADV_DONTNEED); }));
  EXPECT_FALSE(is_noticed(at, [&] { madvise(at, size, MADV_WILLNEED); }));
  EXPECT_TRUE(is_noticed(at, [&] {
    void* const elsewhere = mremap(at, size, 2 * size, MREMAP_MAYMOVE);
    munmap(elsewhere, 2 * size);
    map_private(at);
  }));
  munmap(at, size);
}

TEST_F(UnmapHooks, HearALibraryThatWasLoadedLaterOnceSomethingWasRegisteredSince) {
  void* const late = dlopen(LATE_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(late, nullptr) << dlerror();
  auto* const replace = reinterpret_cast<int (*)(void*, std::size_t)>(dlsym(late, "replace_late"));
  ASSERT_NE(replace, nullptr);
  void* const at = map_private();
  const auto by_library = [&] { return is_noticed(at, [&] { EXPECT_EQ(replace(at, size), 0); }); };
  while (!by_library()) std::this_thread::yield();  // another thread sees to it: ctest has a limit
  EXPECT_TRUE(by_library());
  munmap(at, size);
  dlclose(late);
}

TEST(UnmapHooksOff, LeaveWhatTheKernelTellsAndNothingElse) {
  if (unmap_monitor::running() != nullptr)
    GTEST_SKIP() << "a monitor runs: alone in its process only";
  EXPECT_EQ(unmap_monitor::start("hooks", false), nullptr);
  EXPECT_EQ(unmap_monitor::probe("hooks", false).method, unmap_method::none);
  EXPECT_NE(unmap_monitor::probe("hooks", false).why.find("HEDDLE_MEM_HOOKS=off"),
            std::string::npos);
  const unmap_report alone = unmap_monitor::probe("auto", false);
  EXPECT_EQ(alone.why.find("calls of munmap"), std::string::npos) << alone.why;
}

TEST(UnmapHooksOff, AreNobodysUntilThereIsAMonitor) {
  Dl_info where{};
  void* const found = dlsym(RTLD_DEFAULT, "munmap");
  ASSERT_NE(dladdr(found, &where), 0);
  EXPECT_EQ(std::string(where.dli_fname).find("heddle"), std::string::npos) << where.dli_fname;
}

}  // namespace
}  // namespace heddle::memory
