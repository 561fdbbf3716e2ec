// SPDX-License-Identifier: BSD-3-Clause
// counted_memory_test.cpp - what counts as memory of this program.
#include "info/counted_memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace heddle::tools {
namespace {

constexpr std::int64_t large = 1 << 20;

TEST(CountedMemory, IsWhatHasBeenTakenAndNotGivenBackAndTheMostThatWas) {
  begin_memory_count();
  auto kept = std::make_unique<std::vector<char>>(large);
  std::make_unique<std::vector<char>>(2 * large).reset();
  const memory_count found = count_memory();
  EXPECT_GE(found.now, large);
  EXPECT_LT(found.now, 2 * large);
  EXPECT_GE(found.most, 3 * large);
}

TEST(CountedMemory, IsThatOfAllThreads) {
  begin_memory_count();
  std::unique_ptr<std::vector<char>> kept;
  std::thread([&kept] { kept = std::make_unique<std::vector<char>>(large); }).join();
  EXPECT_GE(count_memory().now, large);
}

TEST(CountedMemory, IsNotWhatAThreadTakesUncounted) {
  begin_memory_count();
  {
    const uncounted_memory off;
    const std::vector<char> unseen(large);
  }
  EXPECT_LT(count_memory().most, large);
}

TEST(CountedMemory, OfAlignedObjectsCountsAndComesBack) {
  struct alignas(256) wide {
    char bytes[large];
  };
  begin_memory_count();
  auto one = std::make_unique<wide>();
  EXPECT_GE(count_memory().now, large);
  one.reset();
  EXPECT_LT(count_memory().now, large);
}

}  // namespace
}  // namespace heddle::tools
