// SPDX-License-Identifier: BSD-3-Clause
// stop_signal_test.cpp - the first request to end is remembered, the next one ends the process.
#include "linktest/measure/stop_signal.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

namespace heddle::linktest {
namespace {

TEST(StopSignal, RemembersTheFirstRequest) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const stop_signal watching;
    EXPECT_EQ(stop_signal::seen(), 0);
    raise(number);
    EXPECT_EQ(stop_signal::seen(), number);
  }
}

TEST(StopSignalDeathTest, LetsTheNextRequestOfAnyKindEndTheProcess) {
  const stop_signal watching;
  EXPECT_EXIT(
      {
        raise(SIGINT);
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
        raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignal, TakesWhatComesAtOnceForTheSameRequest) {
  const stop_signal watching;
  raise(SIGINT);
  raise(SIGINT);
  raise(SIGTERM);
  EXPECT_EQ(stop_signal::seen(), SIGINT);
}

TEST(StopSignal, LeavesAnIgnoredSignalIgnored) {
  signal(SIGHUP, SIG_IGN);
  {
    const stop_signal watching;
    raise(SIGHUP);
    EXPECT_EQ(stop_signal::seen(), 0);
  }
  signal(SIGHUP, SIG_DFL);
}

}  // namespace
}  // namespace heddle::linktest
