// SPDX-License-Identifier: BSD-3-Clause
// rma_told_test.cpp - puts whose target is told of their end, by a notification or a signal.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "support/rma_fixture.h"

namespace heddle::protocols {
namespace {

class RmaNotification : public Rma {
 protected:
  status put(completion done = {}) { return access(command_kind::put_notify, done); }
};

TEST_F(RmaNotification, FollowsTheEndOfItsPut) {
  EXPECT_EQ(put(end_), status::posted);
  EXPECT_TRUE(wire_.messages.empty());
  ends();
  expect_told_once();
  EXPECT_EQ(end_.count, 1);
}

TEST_F(RmaNotification, DoesNotFollowAPutThatFailed) {
  EXPECT_EQ(put(end_), status::posted);
  ends(status::withdrawn);
  EXPECT_TRUE(wire_.messages.empty());
  EXPECT_EQ(end_.code, status::withdrawn);
}

TEST_F(RmaNotification, IsTheWiresWhereItTells) {
  peer_.put_tells = true;
  EXPECT_EQ(put(end_), status::posted);
  const transport::op& o = wire_.posted.back();
  EXPECT_TRUE(o.tells);
  EXPECT_EQ(o.head.first, head_of_call(handler, 8).first);
  ends();
  EXPECT_TRUE(wire_.messages.empty());
  EXPECT_EQ(end_.count, 1);
}

TEST_F(RmaNotification, IsTheWiresAlsoAfterAWaitForRoom) {
  peer_.put_tells = true;
  wire_.room = 0;
  EXPECT_EQ(put(end_), status::posted);
  makes_room();
  EXPECT_TRUE(wire_.posted.back().tells);
  ends();
  EXPECT_TRUE(wire_.messages.empty());
}

// Then the wire, which would have told, has not done it.
TEST_F(RmaNotification, IsOursWhereTheWireRefusesLate) {
  peer_.put_tells = peer_.refuses_late = true;
  EXPECT_EQ(put(end_), status::posted);
  EXPECT_TRUE(wire_.posted.back().tells);
  ends(status::unsupported);
  ASSERT_EQ(last().kind, message_kind::rma_put);
  message done;
  done.kind = message_kind::rma_done;
  done.word = last().word;
  wire_.messages.clear();
  transfers_.by_messages().on_message(peer_, done);
  batch_.run();
  EXPECT_EQ(end_.count, 1);
  expect_told_once();
}

TEST_F(RmaNotification, FollowsAtOnceWhatIsDoneAtOnce) {
  map(target_, there_.data(), live_);
  EXPECT_EQ(put(), status::done);
  expect_told_once();
  wire_.messages.clear();
  command nothing = command_of(command_kind::put_notify);
  nothing.memory = {};
  EXPECT_EQ(rma_.begin(nothing), status::done);
  expect_told_once();
}

TEST_F(RmaNotification, IsRefusedWhileManyWait) {
  peer_.control.resize(1024);
  EXPECT_EQ(put(), status::busy_records);
  EXPECT_TRUE(wire_.posted.empty());
  lone_.ops.room().must_take(true);
  EXPECT_EQ(put(), status::posted) << "it was accepted before";
}

// --- signals ---------------------------------------------------------------------------

class RmaSignal : public Rma {
 protected:
  status put(completion done = {}) { return access(command_kind::put_signal, done); }
  std::uint64_t value() {
    std::uint64_t v = 0;
    std::memcpy(&v, &word_[8], sizeof v);
    return v;
  }
  void expect_word_posted() {
    const transport::op& o = wire_.posted.back();
    EXPECT_EQ(o.kind, transport::op_kind::atomic);
    EXPECT_EQ(o.region, signal_.ref);
    EXPECT_EQ(o.offset, 8u);
    EXPECT_EQ(o.operand, 42u);
    EXPECT_TRUE(o.memory.empty());
  }
};

TEST_F(RmaSignal, ChangesTheWordWhenTheDataIsThere) {
  EXPECT_EQ(put(end_), status::posted);
  EXPECT_EQ(wire_.posted.back().kind, transport::op_kind::put);
  ends();
  ASSERT_EQ(wire_.posted.size(), 2u);
  expect_word_posted();
  EXPECT_EQ(end_.count, 0);
  ends();
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(peer_.counted, 0u);
}

TEST_F(RmaSignal, LeavesTheWordAloneWhenThePutFails) {
  EXPECT_EQ(put(end_), status::posted);
  ends(status::withdrawn);
  EXPECT_EQ(wire_.posted.size(), 1u);
  EXPECT_EQ(end_.code, status::withdrawn);
}

TEST_F(RmaSignal, NeedsNoRequestWhereBothAreMapped) {
  map(target_, there_.data(), live_);
  map(signal_, word_.data(), live_);
  EXPECT_EQ(put(), status::done);
  EXPECT_EQ(there_[8], std::byte{7});
  EXPECT_EQ(value(), 42u);
  EXPECT_EQ(put(), status::done);
  EXPECT_EQ(value(), 84u);
}

TEST_F(RmaSignal, AsksForTheWordOnlyWhereTheDataIsMapped) {
  map(target_, there_.data(), live_);
  EXPECT_EQ(put(end_), status::posted);
  EXPECT_EQ(there_[8], std::byte{7});
  ASSERT_EQ(wire_.posted.size(), 1u);
  expect_word_posted();
  ends();
  EXPECT_EQ(end_.count, 1);
}

TEST_F(RmaSignal, WaitsForRoomBetweenTheTwo) {
  EXPECT_EQ(put(end_), status::posted);
  wire_.room = 0;
  ends();
  EXPECT_EQ(wire_.posted.size(), 1u);
  EXPECT_EQ(end_.count, 0);
  makes_room();
  expect_word_posted();
  ends();
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::done);
}

}  // namespace
}  // namespace heddle::protocols
