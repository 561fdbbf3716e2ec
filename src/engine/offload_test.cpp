// SPDX-License-Identifier: BSD-3-Clause
// offload_test.cpp - the cost model by itself, fed with made-up times.
#include "engine/offload.h"

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

constexpr std::size_t size = 64 * 1024;
constexpr std::uint64_t submit_ns = 20'000, leave_ns = 500, pick_up_ns = 3000;

/// Past the decisions that try the other way.
void skip_trials(offload_model& m) {
  for (int i = 0; i < 100; ++i) (void)m.samples();
}

/// Operations that a helper executes, or the program when it waits.
void feed(offload_model& m, int operations, std::uint64_t compute_ns, bool helped) {
  for (int i = 1; i <= operations; ++i) {
    const auto now = static_cast<std::uint64_t>(i) * 1'000'000'000;
    m.submitted(size, submit_ns);
    m.leaving(now);
    m.picked_up(now + pick_up_ns, helped);
    m.left(leave_ns, false);
    m.computed(compute_ns);
  }
}

TEST(OffloadModel, LeavesNothingBeforeItHasSeenAnything) {
  offload_model m(progress_mode::adaptive);
  EXPECT_FALSE(m.considers(offload_model::least_bytes - 1));
  EXPECT_TRUE(m.considers(size));
  EXPECT_FALSE(m.leave(size));
}

TEST(OffloadModel, LeavesWhatAHelperFinishesWhileTheProgramComputes) {
  offload_model m(progress_mode::adaptive);
  skip_trials(m);
  feed(m, 20, 100'000, true);
  EXPECT_TRUE(m.leave(size));
  EXPECT_FALSE(m.leave(1024)) << "nothing is known of that size";
}

TEST(OffloadModel, LeavesNothingWhenTheProgramWaitsAtOnceOrNobodyHelps) {
  offload_model waits(progress_mode::adaptive), alone(progress_mode::adaptive);
  skip_trials(waits);
  skip_trials(alone);
  feed(waits, 20, 100, true);
  feed(alone, 20, 100'000, false);
  EXPECT_FALSE(waits.leave(size));
  EXPECT_FALSE(alone.leave(size));
}

TEST(OffloadModel, ChangesItsMindWhenHelpersGoAway) {
  offload_model m(progress_mode::adaptive);
  skip_trials(m);
  feed(m, 20, 100'000, true);
  feed(m, 60, 100'000, false);
  EXPECT_FALSE(m.leave(size));
}

// A helper may be there before the hand-over has returned.
TEST(OffloadModel, TakesTheFirstPickUpForWhatItWas) {
  offload_model m(progress_mode::adaptive);
  feed(m, 1, 100'000, true);
  EXPECT_EQ(m.now().pick_up_ns, pick_up_ns);
}

TEST(OffloadModel, TriesTheOtherWayNowAndThen) {
  offload_model m(progress_mode::adaptive);
  feed(m, 20, 100'000, false);
  EXPECT_TRUE(m.leave(size)) << "the first of 1024";
  skip_trials(m);
  EXPECT_FALSE(m.leave(size));
}

}  // namespace
}  // namespace heddle::engine
