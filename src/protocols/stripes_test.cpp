// SPDX-License-Identifier: BSD-3-Clause
// stripes_test.cpp - large transfers over two scripted rails.
#include "protocols/stripes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "support/port_fixture.h"

namespace heddle::protocols {
namespace {

using test::ending;
using transport::event;
using transport::only;
using transport::op;
using transport::op_kind;

constexpr std::size_t size = 4 * 1024 * 1024;

class Stripes : public PortFixture {
 protected:
  Stripes() {
    two_rails_ = true;
    for (transport::script* wire : {&wire_, &second_wire_}) {
      wire->native = only(op_kind::send) | only(op_kind::put) | only(op_kind::get);
      wire->answer = status::posted;
    }
    target_.owner = 1;
    target_.ref = {1, 1};
    target_.bytes = size;
    target_.allowed = rights::all;
  }
  status execute(command_kind kind, std::size_t bytes, completion done = {}) {
    command c;
    c.kind = kind;
    c.peer = 1;
    c.target = &target_;
    c.memory = std::span(memory_).first(bytes);
    c.done = done;
    return port_->dispatch().execute(c, batch_);
  }
  /// Until what the wires have to say is told: one that had nothing for long is looked at rarely.
  void progress() {
    do port_->progress(batch_);
    while (!wire_.events.empty() || !second_wire_.events.empty());
    batch_.run();
  }
  /// What a wire has under way ends; false: there is nothing.
  bool ends(transport::script& wire, status code = status::done) {
    if (wire.under_way.empty()) return false;
    for (op* each : std::exchange(wire.under_way, {}))
      wire.events.push_back({event::kind_t::ended, code, each->to, each, {}});
    progress();
    return true;
  }
  void all_ends() {
    while (ends(wire_) || ends(second_wire_)) {
    }
  }
  void is_lost(transport::script& wire, status code) {
    wire.events.push_back({event::kind_t::peer_lost, code, wire.reach(1), nullptr,
                           transport::bytes_of("it is gone")});
    progress();
  }
  /// Every byte of the transfer was posted once, on one of the rails.
  void expect_covered() {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
    for (const transport::script* wire : {&wire_, &second_wire_})
      for (const op& o : wire->posted) {
        parts.emplace_back(o.offset, o.offset + o.memory.size());
        EXPECT_EQ(o.memory.data(), memory_.data() + o.offset);
      }
    std::ranges::sort(parts);
    std::uint64_t at = 0;
    for (const auto& [from, to] : parts) {
      EXPECT_EQ(from, at);
      at = to;
    }
    EXPECT_EQ(at, size);
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(size);
  const std::shared_ptr<memory::imported_memory> imported_ =
      std::make_shared<memory::imported_memory>();
  memory::remote_memory target_{imported_};
};

TEST_F(Stripes, ALargeTransferIsSharedByBothRailsAndEndsOnce) {
  for (const command_kind kind : {command_kind::put, command_kind::get}) {
    start();
    wire_.posted.clear();
    second_wire_.posted.clear();
    ending end;
    ASSERT_EQ(execute(kind, size, end), status::posted);
    EXPECT_FALSE(wire_.under_way.empty());
    EXPECT_FALSE(second_wire_.under_way.empty());
    EXPECT_EQ(end.count, 0);
    all_ends();
    EXPECT_EQ(end.count, 1);
    EXPECT_EQ(end.code, status::done);
    EXPECT_TRUE(port_->quiet());
    expect_covered();
  }
}

TEST_F(Stripes, SmallOnesAndMessagesGoOverTheFirstRail) {
  start();
  EXPECT_EQ(execute(command_kind::put, config_.stripe_bytes - 1), status::posted);
  command c;
  c.kind = command_kind::send;
  c.peer = 1;
  c.memory = std::span(memory_).first(8);
  EXPECT_EQ(port_->dispatch().execute(c, batch_), status::done);
  EXPECT_EQ(wire_.posted.size(), 2u);
  EXPECT_TRUE(second_wire_.posted.empty());
  all_ends();
}

TEST_F(Stripes, WithTheSettingAtZeroThereIsOneRail) {
  config_.stripe_bytes = 0;
  start();
  EXPECT_EQ(execute(command_kind::put, size), status::posted);
  EXPECT_EQ(wire_.posted.size(), 1u);
  EXPECT_TRUE(second_wire_.posted.empty());
  all_ends();
}

TEST_F(Stripes, ARailThatHasNoRoomIsDoneWithout) {
  second_wire_.room = 0;
  start();
  ending end;
  EXPECT_EQ(execute(command_kind::put, size, end), status::posted);
  all_ends();
  EXPECT_EQ(end.count, 1);
  EXPECT_TRUE(second_wire_.posted.empty());
  expect_covered();
}

TEST_F(Stripes, WhereNoRailHasRoomTheTransferWaitsForIt) {
  wire_.room = second_wire_.room = 0;
  start();
  ending end;
  EXPECT_EQ(execute(command_kind::put, size, end), status::posted);
  EXPECT_TRUE(port_->unsent());
  wire_.room = second_wire_.room = SIZE_MAX;
  progress();
  all_ends();
  EXPECT_EQ(end.count, 1);
  expect_covered();
}

TEST_F(Stripes, SeveralTransfersTakeTurnsAndAMessageIsNotKeptBehindThem) {
  start();
  std::array<ending, 5> ends;
  for (ending& each : ends) ASSERT_EQ(execute(command_kind::put, size, each), status::posted);
  command c;
  c.kind = command_kind::send;
  c.peer = 1;
  c.memory = std::span(memory_).first(8);
  EXPECT_EQ(port_->dispatch().execute(c, batch_), status::done);
  all_ends();
  for (const ending& each : ends) EXPECT_EQ(each.count, 1);
  EXPECT_TRUE(port_->quiet());
}

TEST_F(Stripes, AFailedStripeFailsTheTransferOnceTheOthersHaveEnded) {
  start();
  ending end;
  ASSERT_EQ(execute(command_kind::get, size, end), status::posted);
  ends(second_wire_, status::withdrawn);
  EXPECT_EQ(end.count, 0) << "the first rail still writes into the memory";
  ends(wire_);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::withdrawn);
  EXPECT_TRUE(port_->quiet());
}

TEST_F(Stripes, AFlushWaitsForAllStripes) {
  start();
  ending end, flushed;
  ASSERT_EQ(execute(command_kind::put, size, end), status::posted);
  command c;
  c.kind = command_kind::flush;
  c.peer = 1;
  c.done = flushed;
  ASSERT_EQ(port_->dispatch().execute(c, batch_), status::posted);
  ends(second_wire_);
  EXPECT_EQ(flushed.count, 0);
  all_ends();
  EXPECT_EQ(flushed.count, 1);
}

TEST_F(Stripes, ARailThatCannotBeMadeLosesNobody) {
  second_wire_.room = 0;  // as while it connects
  start();
  ending end;
  ASSERT_EQ(execute(command_kind::put, size, end), status::posted);
  is_lost(second_wire_, status::unsupported);
  all_ends();
  EXPECT_EQ(end.code, status::done);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(losses_.why(0, 1), "");
  second_wire_.room = SIZE_MAX;
  ASSERT_EQ(execute(command_kind::put, size), status::posted);
  all_ends();
  EXPECT_TRUE(second_wire_.posted.empty());
}

TEST_F(Stripes, AFirstRailThatCannotBeMadeLosesThePeer) {
  start();
  ending end;
  ASSERT_EQ(execute(command_kind::put, size, end), status::posted);
  is_lost(wire_, status::unsupported);
  ends(wire_, status::peer_lost);
  ends(second_wire_, status::peer_lost);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_EQ(losses_.why(0, 1), "it is gone");
  EXPECT_EQ(second_wire_.dropped, std::vector<rank>{1}) << "it is dropped on every rail";
}

TEST_F(Stripes, AMessageThatThePeerIsToFetchIsExposedOnEveryRail) {
  start();
  wire_.answer = status::done;
  ending end;
  ASSERT_EQ(execute(command_kind::send, size, end), status::posted);
  EXPECT_EQ(wire_.exposed, 1);
  EXPECT_EQ(second_wire_.exposed, 1) << "it reads stripes over each";
  is_lost(wire_, status::peer_lost);
  port_->maintain(1'000'000, batch_);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(wire_.exposed, 0);
  EXPECT_EQ(second_wire_.exposed, 0);
}

TEST_F(Stripes, WhatCameOverTheFirstRailIsStillTakenWhenAnotherHasLostThePeer) {
  start();
  ending end, got;
  ASSERT_EQ(execute(command_kind::get, size, end), status::posted);
  std::vector<std::byte> into(8);
  ASSERT_EQ(port_->dispatch().receive(1, tag_match(5), into, got, batch_), status::posted);
  is_lost(second_wire_, status::peer_lost);
  message m;
  m.kind = message_kind::tag_eager;
  m.word = 5;
  const prefix p(m);
  const std::vector<std::byte> bytes(p.bytes().begin(), p.bytes().end());
  wire_.events.push_back({event::kind_t::arrived, status::done, wire_.reach(1), nullptr, bytes});
  progress();
  EXPECT_EQ(got.count, 1);
  EXPECT_EQ(got.code, status::done);
  port_->maintain(1'000'000, batch_);
  ends(wire_, status::peer_lost);
  ends(second_wire_, status::peer_lost);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_EQ(execute(command_kind::put, 8), status::peer_lost);
}

TEST_F(Stripes, APeerThatIsLostEndsTransfersThatWaitForARail) {
  start();
  std::array<ending, 4> ends_of;
  for (ending& each : ends_of) ASSERT_EQ(execute(command_kind::put, size, each), status::posted);
  is_lost(wire_, status::peer_lost);
  ends(wire_, status::peer_lost);
  ends(second_wire_, status::peer_lost);
  for (const ending& each : ends_of) {
    EXPECT_EQ(each.count, 1);
    EXPECT_EQ(each.code, status::peer_lost);
  }
  EXPECT_TRUE(port_->quiet());
}

TEST_F(Stripes, AnEndOfTheWorldEndsEachTransferOnce) {
  start();
  std::array<ending, 3> ends_of;
  for (ending& each : ends_of) ASSERT_EQ(execute(command_kind::get, size, each), status::posted);
  port_->abort(status::closed, batch_);
  batch_.run();
  for (const ending& each : ends_of) {
    EXPECT_EQ(each.count, 1);
    EXPECT_EQ(each.code, status::closed);
  }
}

TEST_F(Stripes, WhatTheWireRefusesLateGoesOnByMessages) {
  start();
  ending end;
  ASSERT_EQ(execute(command_kind::put, size, end), status::posted);
  wire_.posted.clear();
  ends(wire_, status::unsupported);
  EXPECT_FALSE(wire_.messages.empty());
  port_->abort(status::closed, batch_);
  batch_.run();
  EXPECT_EQ(end.count, 1);
}

}  // namespace
}  // namespace heddle::protocols
