// SPDX-License-Identifier: BSD-3-Clause
// send_buffer_test.cpp - what joins those that are gathered, and what the buffer holds.
#include "backends/tcp/send_buffer.h"

#include <gtest/gtest.h>

namespace heddle::transport::tcp {
namespace {

TEST(SendBuffer, LetsFramesJoinFromTheBeginOfGatheringToItsBound) {
  send_buffer b(1000);
  EXPECT_EQ(b.join(1), nullptr);
  b.gather(100);
  EXPECT_NE(b.join(60), nullptr);
  EXPECT_EQ(b.join(41), nullptr);
  EXPECT_NE(b.join(40), nullptr);
  EXPECT_FALSE(b.has_gathered());
  EXPECT_EQ(b.size(), 100u);
  b.gather(0);
  EXPECT_EQ(b.join(1), nullptr);
}

TEST(SendBuffer, CountsFramesThatDidNotAskAsGathered) {
  send_buffer b(1000);
  b.gather(100);
  ASSERT_NE(b.extend(101), nullptr);
  EXPECT_TRUE(b.has_gathered());
  EXPECT_EQ(b.join(1), nullptr);
}

TEST(SendBuffer, GathersNoMoreOnceAllIsWrittenOrMoved) {
  send_buffer b(100);
  b.gather(100);
  ASSERT_NE(b.join(80), nullptr);
  b.drop(80);
  EXPECT_FALSE(b.gathers());
  b.gather(100);
  ASSERT_NE(b.join(80), nullptr);
  b.drop(40);
  EXPECT_TRUE(b.gathers());
  ASSERT_NE(b.extend(50), nullptr);  // only at the front is there room
  EXPECT_FALSE(b.gathers());
}

TEST(SendBuffer, KeepsOrderWhenItMovesToTheFrontAndRefusesWhatDoesNotFit) {
  send_buffer b(8);
  for (const int i : {1, 2, 3, 4, 5, 6}) *b.extend(1) = static_cast<std::byte>(i);
  b.drop(4);
  EXPECT_EQ(b.extend(7), nullptr);
  std::byte* const at = b.extend(6);
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(b.data()[0], std::byte{5});
  EXPECT_EQ(b.data()[1], std::byte{6});
  EXPECT_EQ(at, b.data() + 2);
  EXPECT_EQ(b.size(), 8u);
}

}  // namespace
}  // namespace heddle::transport::tcp
