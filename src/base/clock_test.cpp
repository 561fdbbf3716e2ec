// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace heddle {
namespace {

TEST(Clock, NeverGoesBack) {
  std::uint64_t last = now_ns();
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t next = now_ns();
    ASSERT_GE(next, last);
    last = next;
  }
}

TEST(Clock, CountsNanoseconds) {
  const std::uint64_t before = now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(now_ns() - before, 20'000'000u);
}

}  // namespace
}  // namespace heddle
