// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/awake_time.h"

#include <gtest/gtest.h>

#include <thread>

namespace heddle::linktest {
namespace {

TEST(AwakeTime, CountsNoMoreThanATurnForATimeInWhichNobodyLooked) {
  awake_time waited;
  std::this_thread::sleep_for(2 * awake_time::turn);
  EXPECT_EQ(waited.passed(), awake_time::turn);
  std::this_thread::sleep_for(2 * awake_time::turn);
  EXPECT_EQ(waited.passed(), 2 * awake_time::turn);
}

}  // namespace
}  // namespace heddle::linktest
