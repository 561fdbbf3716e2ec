// SPDX-License-Identifier: BSD-3-Clause
// rma_test.cpp - puts, gets and atomics: what is refused, and which way the others go.
#include "protocols/rma.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "support/rma_fixture.h"

namespace heddle::protocols {
namespace {

using test::ending;
using transport::op_kind;

TEST_F(Rma, SaysWithoutAskingThePeerWhatCannotBe) {
  command c = command_of(command_kind::put);
  const auto answer = [&] { return rma_.begin(c); };
  c.target = nullptr;
  EXPECT_EQ(answer(), status::invalid);
  c.target = &target_;
  c.offset = there_.size() - memory_.size() + 1;
  EXPECT_EQ(answer(), status::out_of_bounds);
  c.offset = ~std::uint64_t{0};
  EXPECT_EQ(answer(), status::out_of_bounds) << "offset and bytes wrap";
  c = command_of(command_kind::atomic);
  c.offset = 4;
  EXPECT_EQ(answer(), status::misaligned);
  target_.allowed = rights::read | rights::atomic;
  c = command_of(command_kind::put);
  EXPECT_EQ(answer(), status::denied);
  target_.allowed = rights::write;
  c = command_of(command_kind::get);
  EXPECT_EQ(answer(), status::denied);
  c = command_of(command_kind::atomic);
  EXPECT_EQ(answer(), status::denied);
  EXPECT_TRUE(wire_.posted.empty());
}

TEST_F(Rma, SaysOfASignalWhatCannotBe) {
  command c = command_of(command_kind::put_signal);
  const auto answer = [&] { return rma_.begin(c); };
  c.signal = {nullptr, 0};
  EXPECT_EQ(answer(), status::invalid);
  c.signal = {&signal_, 4};
  EXPECT_EQ(answer(), status::misaligned);
  c.signal = {&signal_, 16};
  EXPECT_EQ(answer(), status::out_of_bounds);
  c = command_of(command_kind::put_signal);
  c.atomic = atomic_op::min;
  EXPECT_EQ(answer(), status::invalid);
  c = command_of(command_kind::put_signal);
  signal_.owner = 0;
  EXPECT_EQ(answer(), status::invalid) << "another peer's";
  EXPECT_TRUE(wire_.posted.empty());
}

TEST_F(Rma, GoesStraightToTheWireAndEndsOnce) {
  for (const auto& [kind, native] :
       {std::pair{command_kind::put, op_kind::put}, std::pair{command_kind::get, op_kind::get},
        std::pair{command_kind::atomic, op_kind::atomic}}) {
    ending end;
    EXPECT_EQ(access(kind, end), status::posted);
    const transport::op& o = wire_.posted.back();
    EXPECT_EQ(o.kind, native);
    EXPECT_EQ(o.offset, 8u);
    EXPECT_EQ(o.region, target_.ref);
    EXPECT_EQ(under_way(0).at, stage::direct);
    ends();
    EXPECT_EQ(end.count, 1);
    EXPECT_EQ(end.code, status::done);
  }
  EXPECT_EQ(lone_.ops.room().taken(), 0u);
}

TEST_F(Rma, GivesTheWireAtOnceWhatItTakes) {
  EXPECT_EQ(rma_.access_now<command_kind::put>(target_, 8, memory_, end_), status::posted);
  EXPECT_EQ(wire_.posted.back().kind, op_kind::put);
  EXPECT_EQ(rma_.access_now<command_kind::get>(target_, 8, memory_, end_), status::posted);
  EXPECT_EQ(wire_.posted.back().kind, op_kind::get);
  ends();
  ends();
  EXPECT_EQ(end_.count, 2);
}

TEST_F(Rma, DoesNothingAtOnceForWhatTheWireDoesNotTakeAtOnce) {
  const auto nothing_happens = [&](const char* why, std::span<std::byte> memory) {
    EXPECT_EQ(rma_.access_now<command_kind::put>(target_, 8, memory, {}), status::busy_queue)
        << why;
    EXPECT_TRUE(wire_.posted.empty()) << why;
    EXPECT_EQ(lone_.ops.pool().in_use(), 0u) << why;
    EXPECT_EQ(peer_.counted, 0u) << why;
  };
  nothing_happens("no bytes", {});
  nothing_happens("out of bounds", there_);
  peer_.max_put_at_once = memory_.size() - 1;
  nothing_happens("too long", memory_);
  peer_.max_put_at_once = 4096;
  peer_.blocked = true;
  nothing_happens("something waits before it", memory_);
  peer_.blocked = false;
  target_.allowed = rights::read;
  nothing_happens("denied", memory_);
  target_.allowed = rights::all;
  target_.mapped = rights::write;
  nothing_happens("mapped here", memory_);
  target_.mapped = rights::none;
  wire_.room = 0;
  nothing_happens("no room", memory_);
  wire_.room = SIZE_MAX;
  while (!lone_.ops.room().full()) lone_.ops.room().take();
  nothing_happens("enough in flight", memory_);
}

TEST_F(Rma, RefusesWhenThereAreEnoughOrThePeerIsLost) {
  while (!lone_.ops.room().full()) lone_.ops.room().take();
  EXPECT_EQ(access(command_kind::put), status::busy_records);
  EXPECT_EQ(access(command_kind::put_signal), status::busy_records);
  peer_.lost = true;
  EXPECT_EQ(access(command_kind::put), status::peer_lost);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
}

TEST_F(Rma, RefusesAtomicsThatOnlyANetworkWithoutAWayDoes) {
  peer_.no_atomics = true;
  peer_.native_atomics = transport::atomic_set::none();
  EXPECT_EQ(access(command_kind::atomic), status::unsupported);
  EXPECT_EQ(access(command_kind::put_signal), status::unsupported);
  EXPECT_EQ(access(command_kind::put), status::posted);
}

TEST_F(Rma, WaitsBehindWhatWaitsForItsPeer) {
  wire_.room = 0;
  EXPECT_EQ(access(command_kind::put, end_), status::posted);
  wire_.room = SIZE_MAX;
  EXPECT_EQ(access(command_kind::get, end_), status::posted);
  EXPECT_TRUE(wire_.posted.empty());
  makes_room();
  ASSERT_EQ(wire_.posted.size(), 2u);
  EXPECT_EQ(wire_.posted[0].kind, op_kind::put);
  ends();
  ends();
  EXPECT_EQ(end_.count, 2);
}

TEST_F(Rma, GoesByMessagesWhereTheWireDoesNot) {
  peer_.native = transport::only(op_kind::send);
  peer_.native_atomics = transport::atomic_set::none();
  EXPECT_EQ(access(command_kind::put), status::posted);
  EXPECT_EQ(access(command_kind::get), status::posted);
  EXPECT_EQ(access(command_kind::atomic), status::posted);
  EXPECT_EQ(sent_kinds(),
            (std::vector{message_kind::rma_put, message_kind::rma_get, message_kind::rma_atomic}));
}

TEST_F(Rma, CopiesItselfWhatIsMappedHere) {
  map(target_, there_.data(), live_);
  EXPECT_EQ(access(command_kind::put), status::done);
  EXPECT_EQ(there_[7], std::byte{0});
  EXPECT_EQ(there_[8], std::byte{7});
  EXPECT_EQ(there_[8 + memory_.size()], std::byte{0});
  there_[8] = std::byte{5};
  EXPECT_EQ(access(command_kind::get), status::done);
  EXPECT_EQ(memory_[0], std::byte{5});
  EXPECT_TRUE(wire_.posted.empty());
}

TEST_F(Rma, ChangesItselfAWordThatIsMappedHere) {
  map(target_, there_.data(), live_);
  for (const std::uint8_t width : {std::uint8_t{4}, std::uint8_t{8}}) {
    command c = command_of(command_kind::atomic);
    c.width = width;
    c.memory = std::span(memory_).first(width);
    c.offset = width;
    there_[width] = std::byte{1};
    EXPECT_EQ(rma_.begin(c), status::done);
    EXPECT_EQ(there_[width], std::byte{43});
    EXPECT_EQ(memory_[0], std::byte{1}) << "what was there before";
    EXPECT_EQ(memory_[width - 1u], std::byte{0});
  }
}

TEST_F(Rma, AsksTheWireAboutWhatIsNotLiveAnyMore) {
  map(target_, there_.data(), live_);
  live_.set(0);
  EXPECT_EQ(access(command_kind::put, end_), status::posted);
  ends(status::withdrawn);
  EXPECT_EQ(end_.code, status::withdrawn);
  EXPECT_EQ(there_[8], std::byte{0});
}

TEST_F(Rma, AnAccessOfNothingIsDone) {
  command c = command_of(command_kind::put);
  c.memory = {};
  EXPECT_EQ(rma_.begin(c), status::done);
  EXPECT_TRUE(wire_.posted.empty());
}

}  // namespace
}  // namespace heddle::protocols
