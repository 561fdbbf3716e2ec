// SPDX-License-Identifier: BSD-3-Clause
// transfers_test.cpp - by which way a transfer goes, and what becomes of one that the wire ends.
#include "protocols/transfers.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using transport::op_kind;

/// A wire that does all kinds and leaves them under way.
class Transfers : public LoneProtocol {
 protected:
  Transfers() {
    wire_.answer = status::posted;
    peer_.native = 0xf;
    peer_.native_atomics = transport::atomic_set::all();
  }
  request& start(op_kind kind, std::size_t bytes) {
    memory_.assign(bytes, std::byte{});
    request& r = begin(kind, memory_, owner_);
    EXPECT_EQ(lone_.path.submit(r), status::posted);
    return r;
  }
  void has_two_rails(std::uint64_t least_bytes) {
    peer_.several = std::make_unique<several_rails>();
    peer_.several->rails = {peer_.wire, {&second_, second_wire_.reach(1)}};
    peer_.several->plan = std::make_unique<earliest_end>(2);
    peer_.several->least_bytes = least_bytes;
    second_wire_.answer = status::posted;
  }

  transfers transfers_{where_, lone_.path, lone_.ops, lone_.counters};
  test_owner owner_{lone_.path, lone_.ops, [this](request& r) { return transfers_.start(r); }};
  transport::scripted_endpoint second_{second_wire_};
  std::vector<std::byte> memory_;
};

TEST_F(Transfers, GoToTheWireThatDoesThem) {
  for (const op_kind kind : {op_kind::put, op_kind::get, op_kind::atomic}) {
    EXPECT_EQ(start(kind, 8).by, carrier::undecided);
    EXPECT_EQ(wire_.posted.back().kind, kind);
  }
}

TEST_F(Transfers, GoByMessagesWhereTheWireDoesNot) {
  peer_.native = transport::only(op_kind::send) | transport::only(op_kind::put);
  EXPECT_EQ(start(op_kind::get, 8).by, carrier::messages);
  EXPECT_EQ(last().kind, message_kind::rma_get);
  EXPECT_EQ(start(op_kind::put, 8).by, carrier::undecided);
  peer_.native_atomics = transport::atomic_set::none();
  EXPECT_EQ(start(op_kind::atomic, 8).by, carrier::messages);
}

TEST_F(Transfers, GoByMessagesWhenTheyAreLongerThanAnOpOfTheWire) {
  peer_.max_op = 1000;
  EXPECT_EQ(start(op_kind::put, 1000).by, carrier::undecided);
  EXPECT_EQ(start(op_kind::put, 1001).by, carrier::messages);
}

TEST_F(Transfers, GoByMessagesWhereTheWireRefusesThisOne) {
  wire_.refused = transport::only(op_kind::put);
  EXPECT_EQ(start(op_kind::put, 8).by, carrier::messages);
  EXPECT_EQ(last().kind, message_kind::rma_put);
}

TEST_F(Transfers, GoInPiecesWhereTheWireCopiesAndTheyAreLong) {
  peer_.copies_in_post = true;
  EXPECT_EQ(start(op_kind::put, pieces::piece_bytes).by, carrier::undecided);
  EXPECT_EQ(start(op_kind::put, pieces::piece_bytes + 1).by, carrier::pieces);
  EXPECT_EQ(wire_.posted.back().memory.size(), pieces::piece_bytes);
}

TEST_F(Transfers, GoThroughAMappingBeforeAnythingElse) {
  std::vector<std::byte> there(8, std::byte{7});
  detail::live_word live;
  live.set(1);
  wire_.mapping.direct = there.data();
  wire_.mapping.bytes = there.size();
  wire_.mapping.live = &live;
  wire_.mapping.generation = 1;
  memory_.resize(8);
  request& r = begin(op_kind::get, memory_, owner_);
  r.mappable = true;
  EXPECT_EQ(transfers_.start(r), status::done);
  EXPECT_EQ(memory_, there);
  EXPECT_TRUE(wire_.posted.empty());
}

TEST_F(Transfers, GoOverAllRailsWhenTheyAreLarge) {
  constexpr std::size_t least = 1 << 20;
  has_two_rails(least);
  EXPECT_EQ(start(op_kind::put, least - 1).by, carrier::undecided);
  EXPECT_TRUE(second_wire_.posted.empty());
  EXPECT_EQ(start(op_kind::put, 4 * least).by, carrier::stripes);
  EXPECT_FALSE(second_wire_.posted.empty());
}

TEST_F(Transfers, GiveAtomicsToTheWireThatDoesThemOnThePeer) {
  second_wire_.answer = status::posted;
  peer_.atomics = {&second_, second_wire_.reach(1)};
  peer_.native_atomics = transport::atomic_set::none();
  (void)start(op_kind::atomic, 8);
  EXPECT_TRUE(wire_.posted.empty());
  EXPECT_EQ(second_wire_.posted.size(), 1u);
  (void)start(op_kind::put, 8);
  EXPECT_EQ(wire_.posted.size(), 1u);
}

TEST_F(Transfers, TellTheOwnerWhenTheWireHasEndedThem) {
  request& r = start(op_kind::put, 8);
  transfers_.wire_ended(r, status::withdrawn);
  EXPECT_EQ(owner_.ends, std::vector{status::withdrawn});
  EXPECT_TRUE(peer_.heard);
}

TEST_F(Transfers, GoOnByMessagesWhereTheWireRefusesLate) {
  request& r = start(op_kind::put, 8);
  transfers_.wire_ended(r, status::unsupported);
  EXPECT_TRUE(owner_.ends.empty());
  EXPECT_EQ(r.by, carrier::messages);
  EXPECT_EQ(last().kind, message_kind::rma_put);
  EXPECT_EQ(last().offset, 0u);
}

TEST_F(Transfers, GoOnByMessagesFromThePieceThatTheWireRefusesLate) {
  peer_.copies_in_post = true;
  request& r = start(op_kind::put, 2 * pieces::piece_bytes);
  transfers_.wire_ended(r, status::done);
  transfers_.by_turns().move_next();
  EXPECT_EQ(wire_.posted.back().offset, pieces::piece_bytes);
  transfers_.wire_ended(r, status::unsupported);
  ASSERT_FALSE(wire_.messages.empty());
  EXPECT_EQ(sent().front().kind, message_kind::rma_put);
  EXPECT_EQ(sent().front().offset, pieces::piece_bytes) << "the first piece is there";
  EXPECT_TRUE(owner_.ends.empty());
}

}  // namespace
}  // namespace heddle::protocols
