// SPDX-License-Identifier: BSD-3-Clause
// port_traits_test.cpp - what a wire does not do by itself goes by messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "support/port_fixture.h"

namespace heddle::protocols {
namespace {

using transport::only;
using transport::op_kind;

/// A wire that does all kinds, as far as a test does not say otherwise.
class PortTraits : public PortFixture {
 protected:
  PortTraits() {
    wire_.native =
        only(op_kind::send) | only(op_kind::put) | only(op_kind::get) | only(op_kind::atomic);
    wire_.answer = status::posted;
    target_.owner = 1;
    target_.ref = {1, 1};
    target_.bytes = memory_.size();
    target_.allowed = rights::all;
  }
  status execute(command_kind kind, std::size_t bytes, std::uint8_t width = 8,
                 atomic_op op = atomic_op::add) {
    port& p = start();
    command c;
    c.kind = kind;
    c.peer = 1;
    c.target = &target_;
    c.memory = std::span(memory_).first(bytes);
    c.width = width;
    c.atomic = op;
    const status s = p.dispatch().execute(c, batch_);
    p.abort(status::closed, batch_);
    batch_.run();
    return s;
  }
  [[nodiscard]] op_kind last() const { return wire_.posted.back().kind; }
  [[nodiscard]] atomic_op last_atomic() const { return wire_.posted.back().atomic; }

  std::vector<std::byte> memory_ = std::vector<std::byte>(3000);
  const std::shared_ptr<memory::imported_memory> imported_ =
      std::make_shared<memory::imported_memory>();
  memory::remote_memory target_{imported_};
};

TEST_F(PortTraits, AnAtomicThatTheWireDoesGoesToIt) {
  wire_.atomics = transport::atomic_set::none().with(atomic_op::add, 8);
  EXPECT_EQ(execute(command_kind::atomic, 8), status::posted);
  EXPECT_EQ(last(), op_kind::atomic);
}

TEST_F(PortTraits, WhatANetworkOfItsOwnAtomicsLacksIsMadeOfItsCompareSwap) {
  wire_.cpu_atomics = false;
  wire_.atomics = transport::atomic_set::common();
  EXPECT_EQ(execute(command_kind::atomic, 8, 8, atomic_op::max), status::posted);
  EXPECT_EQ(last(), op_kind::atomic);
  EXPECT_EQ(last_atomic(), atomic_op::compare_swap);
}

TEST_F(PortTraits, ACompareSwapOfALoopIsRepeatedUntilNobodyCameBetween) {
  wire_.cpu_atomics = false;
  wire_.atomics = transport::atomic_set::common();
  port& p = start();
  std::uint64_t old = 0;
  status ended = status::posted;
  callback end([&](const outcome& what) { ended = what.code; });
  command c;
  c.kind = command_kind::atomic;
  c.peer = 1;
  c.target = &target_;
  c.atomic = atomic_op::max;
  c.operand = 7;
  c.memory = std::as_writable_bytes(std::span(&old, 1));
  c.done = end;
  ASSERT_EQ(p.dispatch().execute(c, batch_), status::posted);
  for (const std::uint64_t found : {std::uint64_t{5}, std::uint64_t{9}, std::uint64_t{9}}) {
    transport::op& o = *wire_.under_way.back();
    ASSERT_EQ(o.memory.size(), sizeof found);
    std::memcpy(o.memory.data(), &found, sizeof found);
    wire_.events.push_back({transport::event::kind_t::ended, status::done, o.to, &o, {}});
    EXPECT_EQ(ended, status::posted);
    p.progress(batch_);
    batch_.run();
  }
  EXPECT_EQ(ended, status::done);
  EXPECT_EQ(old, 9u);
  ASSERT_EQ(wire_.posted.size(), 3u);
  const std::uint64_t compared[] = {0, 5, 9}, stored[] = {7, 7, 9};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(wire_.posted[i].compare, compared[i]);
    EXPECT_EQ(wire_.posted[i].operand, stored[i]);
  }
  EXPECT_TRUE(p.quiet());
}

TEST_F(PortTraits, WhatAWireLacksWhoseAtomicsTheCpuSeesGoesByMessage) {
  wire_.atomics = transport::atomic_set::common();
  EXPECT_EQ(execute(command_kind::atomic, 8, 8, atomic_op::float_add), status::posted);
  EXPECT_EQ(last(), op_kind::send);
}

TEST_F(PortTraits, AnAtomicOfAWidthThatTheWireDoesNotDoGoesByMessage) {
  wire_.atomics = transport::atomic_set::none().with(atomic_op::add, 8);
  EXPECT_EQ(execute(command_kind::atomic, 4, 4), status::posted);
  EXPECT_EQ(last(), op_kind::send);
}

TEST_F(PortTraits, AtomicsThatTheCpuDoesNotSeeGoByMessageUnlessTheWireDoesAll) {
  wire_.cpu_atomics = false;
  wire_.atomics = transport::atomic_set::none().with(atomic_op::add, 8);
  EXPECT_EQ(execute(command_kind::atomic, 8), status::posted);
  EXPECT_EQ(last(), op_kind::send);
  wire_.atomics = transport::atomic_set::all();
  EXPECT_EQ(execute(command_kind::atomic, 8), status::posted);
  EXPECT_EQ(last(), op_kind::atomic);
}

TEST_F(PortTraits, WithoutAWayToTheNetworkThatDoesThemAtomicsAreUnsupported) {
  atomic_route_.fill(no_route);
  EXPECT_EQ(execute(command_kind::atomic, 8), status::unsupported);
  EXPECT_EQ(execute(command_kind::put, 8), status::posted);
}

TEST_F(PortTraits, AtomicsOverAnotherWireThatHasNoMemoryForThePeerGoByMessageIfTheCpuSeesThem) {
  two_rails_ = true;
  atomic_route_.fill(1);
  second_wire_.no_memory = true;
  EXPECT_EQ(execute(command_kind::atomic, 8), status::posted);
  EXPECT_EQ(last(), op_kind::send);
  second_wire_.cpu_atomics = false;
  EXPECT_EQ(execute(command_kind::atomic, 8), status::unsupported);
}

TEST_F(PortTraits, WhatIsLongerThanOneOpOfTheWireGoesByMessages) {
  wire_.max_op = 2000;
  for (const command_kind kind : {command_kind::put, command_kind::get}) {
    EXPECT_EQ(execute(kind, 2000), status::posted);
    EXPECT_NE(last(), op_kind::send);
    EXPECT_EQ(execute(kind, 2001), status::posted);
    EXPECT_EQ(last(), op_kind::send);
  }
}

TEST_F(PortTraits, PutsThatEndBeforeTheyArriveGoByMessage) {
  wire_.ends_remotely = false;
  EXPECT_EQ(execute(command_kind::put, 8), status::posted);
  EXPECT_EQ(last(), op_kind::send);
}

// --- puts that tell ----------------------------------------------------------------------

class PortNotifications : public PortTraits {
 protected:
  PortNotifications() { wire_.put_tells = true; }
  status put_notify(std::size_t bytes, completion done = {}) {
    target_.bytes = memory_.size();
    command c;
    c.kind = command_kind::put_notify;
    c.peer = 1;
    c.target = &target_;
    c.memory = std::span(memory_).first(bytes);
    c.handler = 9;
    c.operand = 42;
    c.done = done;
    return port_->dispatch().execute(c, batch_);
  }
  void ends(status code) {
    for (transport::op* each : std::exchange(wire_.under_way, {}))
      wire_.events.push_back({transport::event::kind_t::ended, code, each->to, each, {}});
    port_->progress(batch_);
    batch_.run();
  }
  /// What the target's handler 9 gets with it.
  static std::uint64_t told_by(const transport::op& o) {
    EXPECT_EQ(o.head.first, head_of_call(9, 8).first);
    std::uint64_t value = 0;
    EXPECT_EQ(o.header.size(), sizeof value);
    std::memcpy(&value, o.header.data(), sizeof value);
    return value;
  }
};

TEST_F(PortNotifications, GoWithThePutWhereTheWireCanTell) {
  start();
  test::ending end;
  ASSERT_EQ(put_notify(100, end), status::posted);
  ASSERT_EQ(wire_.posted.size(), 1u);
  EXPECT_TRUE(wire_.posted[0].tells);
  EXPECT_EQ(told_by(*wire_.under_way[0]), 42u);
  ends(status::done);
  EXPECT_EQ(end.count, 1);
  EXPECT_TRUE(wire_.messages.empty()) << "the wire has told already";
}

TEST_F(PortNotifications, GoWithThePutAlsoWhenItHadToWait) {
  start();
  wire_.room = 0;
  ASSERT_EQ(put_notify(100), status::posted);
  wire_.room = SIZE_MAX;
  port_->progress(batch_);
  ASSERT_EQ(wire_.under_way.size(), 1u);
  EXPECT_TRUE(wire_.under_way[0]->tells);
  EXPECT_EQ(told_by(*wire_.under_way[0]), 42u);
  ends(status::done);
  EXPECT_TRUE(wire_.messages.empty());
}

TEST_F(PortNotifications, FollowThePutsEndWhereTheWireCannotTell) {
  wire_.put_tells = false;
  start();
  ASSERT_EQ(put_notify(100), status::posted);
  EXPECT_FALSE(wire_.posted[0].tells);
  EXPECT_TRUE(wire_.messages.empty());
  ends(status::done);
  EXPECT_EQ(wire_.messages.size(), 1u);
}

TEST_F(PortNotifications, FollowThePutsEndWhereTheWireCannotTellOfThisOne) {
  start();
  test::ending end;
  ASSERT_EQ(put_notify(100, end), status::posted);
  wire_.under_way[0]->tells = false;
  EXPECT_TRUE(wire_.messages.empty());
  ends(status::done);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(wire_.messages.size(), 1u);
}

TEST_F(PortNotifications, FollowTheEndOfAPutThatGoesInSeveralParts) {
  two_rails_ = true;
  second_wire_ = transport::script();
  second_wire_.native = wire_.native;
  second_wire_.answer = status::posted;
  config_.stripe_bytes = 1000;
  start();
  ASSERT_EQ(put_notify(3000), status::posted);
  while (!wire_.under_way.empty() || !second_wire_.under_way.empty()) {
    EXPECT_TRUE(wire_.messages.empty());
    for (transport::op* each : std::exchange(second_wire_.under_way, {}))
      second_wire_.events.push_back(
          {transport::event::kind_t::ended, status::done, each->to, each, {}});
    ends(status::done);
  }
  EXPECT_EQ(wire_.messages.size(), 1u);
  for (const transport::op& o : wire_.posted) EXPECT_FALSE(o.tells);
}

TEST_F(PortNotifications, OfAPutThatFailsAreNotMade) {
  start();
  test::ending end;
  ASSERT_EQ(put_notify(100, end), status::posted);
  ends(status::withdrawn);
  EXPECT_EQ(end.code, status::withdrawn);
  EXPECT_TRUE(wire_.messages.empty());
}

// --- puts with a signal ------------------------------------------------------------------

class PortSignals : public PortNotifications {
 protected:
  status put_signal(std::size_t bytes, completion done = {}) {
    command c;
    c.kind = command_kind::put_signal;
    c.peer = 1;
    c.target = &target_;
    c.memory = std::span(memory_).first(bytes);
    c.atomic = atomic_op::swap;
    c.operand = 42;
    c.signal = {&target_, 16};
    c.done = done;
    return port_->dispatch().execute(c, batch_);
  }
};

TEST_F(PortSignals, ChangeTheWordWhenThePutHasEnded) {
  start();
  test::ending end;
  ASSERT_EQ(put_signal(100, end), status::posted);
  ASSERT_EQ(wire_.posted.size(), 1u);
  EXPECT_EQ(last(), op_kind::put);
  ends(status::done);
  EXPECT_EQ(end.count, 0) << "the word is not there yet";
  ASSERT_EQ(wire_.posted.size(), 2u);
  EXPECT_EQ(last_atomic(), atomic_op::swap);
  EXPECT_EQ(wire_.posted[1].kind, op_kind::atomic);
  EXPECT_EQ(wire_.posted[1].operand, 42u);
  EXPECT_EQ(wire_.posted[1].offset, 16u);
  EXPECT_TRUE(wire_.posted[1].memory.empty());
  ends(status::done);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::done);
  EXPECT_TRUE(port_->quiet());
}

TEST_F(PortSignals, OfAPutThatFailsChangeNothing) {
  start();
  test::ending end;
  ASSERT_EQ(put_signal(100, end), status::posted);
  ends(status::withdrawn);
  EXPECT_EQ(end.code, status::withdrawn);
  EXPECT_EQ(wire_.posted.size(), 1u);
}

TEST_F(PortSignals, WithoutDataAreAnAtomic) {
  start();
  test::ending end;
  ASSERT_EQ(put_signal(0, end), status::posted);
  EXPECT_EQ(last(), op_kind::atomic);
  ends(status::done);
  EXPECT_EQ(end.count, 1);
}

TEST_F(PortSignals, FollowAPutThatIsOverAtOnceAndOneThatHadToWait) {
  wire_.answer = status::done;
  start();
  EXPECT_EQ(put_signal(100), status::done);
  EXPECT_EQ(wire_.posted.size(), 2u);
  EXPECT_EQ(last(), op_kind::atomic);
  wire_.room = 1;
  test::ending end;
  ASSERT_EQ(put_signal(100, end), status::posted);
  EXPECT_EQ(last(), op_kind::put);
  EXPECT_EQ(end.count, 0);
  wire_.room = SIZE_MAX;
  ends(status::done);
  EXPECT_EQ(last(), op_kind::atomic);
  EXPECT_EQ(end.count, 1);
}

TEST_F(PortSignals, GoWithABatchToo) {
  start();
  test::ending end;
  port_->dispatch().begin_batch();
  ASSERT_EQ(put_signal(100, end), status::posted);
  EXPECT_TRUE(wire_.posted.empty());
  port_->dispatch().end_batch(batch_);
  ends(status::done);
  ends(status::done);
  EXPECT_EQ(last(), op_kind::atomic);
  EXPECT_EQ(end.count, 1);
}

TEST_F(PortSignals, FollowTheEndOfAPutThatGoesInSeveralParts) {
  two_rails_ = true;
  second_wire_ = transport::script();
  second_wire_.native = wire_.native;
  second_wire_.answer = status::posted;
  config_.stripe_bytes = 1000;
  start();
  test::ending end;
  ASSERT_EQ(put_signal(3000, end), status::posted);
  while (end.count == 0 && (!wire_.under_way.empty() || !second_wire_.under_way.empty())) {
    const bool parts = last() == op_kind::put;
    EXPECT_TRUE(parts || wire_.under_way.size() == 1);
    for (transport::op* each : std::exchange(second_wire_.under_way, {}))
      second_wire_.events.push_back(
          {transport::event::kind_t::ended, status::done, each->to, each, {}});
    ends(status::done);
  }
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(std::ranges::count(wire_.posted, op_kind::atomic, &transport::op::kind), 1);
}

TEST_F(PortSignals, AreUnsupportedWithoutAWayToTheNetworkThatDoesTheAtomics) {
  atomic_route_.fill(no_route);
  start();
  EXPECT_EQ(put_signal(100), status::unsupported);
  EXPECT_TRUE(wire_.posted.empty());
}

TEST_F(PortSignals, OfALostPeerEndOnce) {
  start();
  test::ending end;
  ASSERT_EQ(put_signal(100, end), status::posted);
  ends(status::peer_lost);
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(wire_.posted.size(), 1u);
}

}  // namespace
}  // namespace heddle::protocols
