// SPDX-License-Identifier: BSD-3-Clause
// stag_entry_test.cpp - who is at the memory behind a steering tag, and who never leaves.
#include <gtest/gtest.h>

#include "shared_cq.h"

using tofu::stag_entry;

namespace {

TEST(StagEntry, IsLeftWhenEverybodyHasLeft) {
  stag_entry entry{};
  entry.enter();
  entry.enter();
  entry.leave();
  EXPECT_FALSE(entry.is_left());
  entry.leave();
  EXPECT_TRUE(entry.is_left());
}

TEST(StagEntry, WaitsNoSecondTimeForSomebodyWhoWasKilledThere) {
  stag_entry entry{};
  entry.enter();  // for ever
  entry.withdraw();
  EXPECT_FALSE(entry.is_left());
  entry.give_up_users();
  EXPECT_TRUE(entry.is_left());
  entry.enter();
  EXPECT_FALSE(entry.is_left());
  entry.leave();
  EXPECT_TRUE(entry.is_left());
}

TEST(StagEntry, IsLeftAlsoWhenSomebodyLeavesWhoHadBeenGivenUp) {
  stag_entry entry{};
  entry.enter();
  entry.withdraw();
  entry.give_up_users();
  entry.leave();  // it had only been stopped
  EXPECT_TRUE(entry.is_left());
}

}  // namespace
