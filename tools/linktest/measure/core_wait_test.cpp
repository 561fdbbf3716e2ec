// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/core_wait.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace heddle::linktest {
namespace {

using clock = std::chrono::steady_clock;

void compute_for(std::chrono::milliseconds time) {
  const auto end = clock::now() + time;
  while (clock::now() < end) {
  }
}

/// What `f` says when all of it runs on one core.
template <class F>
double on_one_core(F&& f) {
  cpu_set_t before, one;
  EXPECT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const double said = f();
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  return said;
}

// Who wakes up on a busy machine waits for a core, but not each time.
TEST(CoreWait, IsNothingForAThreadThatSleeps) {
  double least = 1;
  for (int tries = 0; tries < 100 && least >= 0.5; ++tries) {
    const core_wait watched;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    least = std::min(least, watched.share());
  }
  EXPECT_LT(least, 0.5);
}

TEST(CoreWait, IsLargeForAThreadThatSharesItsCore) {
  if (!std::ifstream("/proc/thread-self/schedstat")) GTEST_SKIP() << "this kernel does not tell";
  double most = 0;  // nobody waits for a core while the whole machine stands still
  for (int tries = 0; tries < 100 && most <= disturbing_wait; ++tries) {
    most = on_one_core([] {
      std::jthread other([](const std::stop_token& ended) {
        while (!ended.stop_requested()) {
        }
      });
      const core_wait watched;
      compute_for(std::chrono::milliseconds(200));
      return watched.share();
    });
  }
  EXPECT_GT(most, disturbing_wait);
}

TEST(CoreWait, IsToldAsText) {
  const core_wait watched;
  EXPECT_GE(shares_in({as_text(watched)}).front(), 0);
  EXPECT_EQ(shares_in({"0.25", ""}), (std::vector<double>{0.25, 0}));
}

}  // namespace
}  // namespace heddle::linktest
