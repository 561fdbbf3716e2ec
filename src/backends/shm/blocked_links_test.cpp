// SPDX-License-Identifier: BSD-3-Clause
// blocked_links_test.cpp - waiting for room, with rings of this process.
#include "backends/shm/blocked_links.h"

#include <gtest/gtest.h>

#include "backends/shm/test_link.h"

namespace heddle::transport::shm {
namespace {

struct BlockedLinks : testing::Test {
  BlockedLinks() {
    blocked.reserve(1);
    while (one.send("a")) {
    }
    blocked.add(one.sender, 1);
  }
  /// What the receiver does.
  void take_all() {
    std::span<const std::byte> bytes;
    while (one.receiver.in->try_take(bytes) == sync::ring_consumer::taken::message) {
    }
    one.receiver.in->release();
  }
  /// Whether the receiver finds that it has to wake the sender.
  bool is_to_be_woken() {
    return one.receiver.in->control().producer_waits.should_wake(sync::glance::full);
  }

  own_segment here{0};
  test_link one{here, 1};
  blocked_links blocked;
};

TEST_F(BlockedLinks, HaveRoomOnceTheReceiverHasGivenLinesBack) {
  EXPECT_FALSE(blocked.some_have_room());
  take_all();
  EXPECT_TRUE(blocked.some_have_room());
}

TEST_F(BlockedLinks, AreWokenByTheirReceiversUntilTheyGetUp) {
  EXPECT_FALSE(is_to_be_woken());
  blocked.mark_asleep();
  EXPECT_TRUE(is_to_be_woken());
  blocked.mark_asleep();
  blocked.mark_awake();
  EXPECT_FALSE(is_to_be_woken());
}

TEST_F(BlockedLinks, AreForgottenOnceTheyHaveRoomAndNotBefore) {
  blocked.forget_those_with_room();
  EXPECT_TRUE(one.sender.blocked);
  take_all();
  blocked.forget_those_with_room();
  EXPECT_FALSE(one.sender.blocked);
  EXPECT_FALSE(blocked.some_have_room());
}

TEST_F(BlockedLinks, AreHereOnceHoweverManyPostsFoundNoRoom) {
  blocked.add(one.sender, 100);
  EXPECT_EQ(one.sender.blocked_bytes, 100u);
  blocked.remove(one.sender);
  take_all();
  EXPECT_FALSE(blocked.some_have_room());
}

}  // namespace
}  // namespace heddle::transport::shm
