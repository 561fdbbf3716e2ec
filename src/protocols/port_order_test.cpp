// SPDX-License-Identifier: BSD-3-Clause
// port_order_test.cpp - one peer's batch, backlog and credit together: every short sequence of what
// a program, a wire and a peer can do, over the real code. Messages leave in the order in which
// they were accepted, each once, and no more of them unannounced than the receiver has agreed to
// keep.
#include <gtest/gtest.h>

#include "support/port_order_fixture.h"
#include "support/scale.h"

namespace heddle::protocols {
namespace {

// One thread does all of it: a sanitizer learns no more from the longest ones.
TEST_F(PortOrder, HoldsAfterEveryShortSequence) {
  try_all(test::sanitized ? 5 : 6);
  EXPECT_EQ(tried_, test::sanitized ? 37'449u : 299'593u);  // 1 + 8 + ... + 8^5, or 8^6
}

// They go out in order whenever credit comes, and where none ever came at the latest before nobody
// looks any more.
TEST_F(PortOrder, HoldsWhereMessagesWaitForCredit) {
  constexpr std::uint64_t hour_us = 3'600'000'000;
  config_.spin_us = hour_us;
  try_all(test::sanitized ? 4 : 5, "sbf01+cpa");
  EXPECT_EQ(tried_, test::sanitized ? 7'381u : 66'430u);  // 1 + 9 + ... + 9^4, or 9^5
}

// The wire is asked for each piece by itself, beside the batch.
TEST_F(PortOrder, HoldsWhereLargeMessagesAreCopiedInPieces) {
  wire_.copies_in_post = true;
  try_all(test::sanitized ? 4 : 5);
  EXPECT_EQ(tried_, test::sanitized ? 4'681u : 37'449u);
}

}  // namespace
}  // namespace heddle::protocols
