// SPDX-License-Identifier: BSD-3-Clause
// early_fetches_test.cpp - announced messages that are fetched before anybody asks for them: which,
// what they use meanwhile, and who gets them.
#include "protocols/early_fetches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using test::ending;

class EarlyFetches : public LoneMessages {
 protected:
  static constexpr std::size_t bytes = 100;
  static constexpr std::uint64_t most = 2 * credit::cost_of(bytes);
  static constexpr tag its_tag = 5;

  EarlyFetches() { wire_.answer = status::posted; }
  /// Filed, and begun with.
  unexpected& announce(std::uint64_t size = bytes) {
    unexpected& m = matcher_.messages.fresh();
    m.source = 1;
    m.from = &peer_;
    m.tag = its_tag;
    m.announce({.ref = {1, 1}, .bytes = size, .id = ++last_id_});
    ++peer_.announcements;
    matcher_.messages.keep(m);
    early_.begin(m);
    return m;
  }
  /// The wire has read the `n`th that it was asked for.
  void comes(std::size_t n, status code = status::done) {
    request& r = under_way(n);
    std::ranges::fill(r.memory, std::byte{7});
    take_in_hand(r);
    early_.ended(r, code);
    batch_.run();
  }
  /// As tagged does it.
  void take(unexpected& m, std::span<std::byte> into, const completion& done) {
    --peer_.announcements;
    early_fetches::take(*m.fetching, into, done);
    matcher_.messages.recycle(matcher_.messages.take(m));
  }
  void expect_fin(std::uint64_t id, status code) const {
    EXPECT_EQ(last().kind, message_kind::fin);
    EXPECT_EQ(last().word, id);
    EXPECT_EQ(status_of(last().flag), code);
  }
  /// All of the budget is there.
  void expect_room_for_two() {
    const std::size_t before = wire_.posted.size();
    unexpected& one = announce();
    unexpected& two = announce();
    EXPECT_NE(one.fetching, nullptr);
    EXPECT_NE(two.fetching, nullptr);
    EXPECT_GE(wire_.posted.size(), before + 2);
  }

  matcher matcher_;
  early_fetches early_{lone_.path, lone_.ops, rendezvous_, matcher_, most};
  std::uint64_t last_id_ = 0;
  std::vector<std::byte> into_ = std::vector<std::byte>(bytes);
  ending end_;
};

TEST_F(EarlyFetches, BringTheDataAndLetTheSenderGo) {
  unexpected& m = announce();
  ASSERT_EQ(wire_.posted.size(), 1u);
  EXPECT_EQ(wire_.posted[0].kind, transport::op_kind::get);
  EXPECT_EQ(m.fetching, &under_way(0));
  EXPECT_TRUE(m.announced);
  comes(0);
  EXPECT_FALSE(m.announced);
  EXPECT_EQ(m.fetching, nullptr);
  EXPECT_EQ(std::vector(m.data(), m.data() + bytes), std::vector(bytes, std::byte{7}));
  expect_fin(last_id_, status::done);
  EXPECT_EQ(peer_.announcements, 0u);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
  EXPECT_EQ(matcher_.messages.find(1, its_tag), &m) << "it is found where it was announced";
}

TEST_F(EarlyFetches, LeaveAloneWhatIsLargeOrWhereThereIsNoRoom) {
  peer_.eager_bytes = bytes;
  EXPECT_EQ(announce(bytes + 1).fetching, nullptr);
  while (!lone_.ops.room().full()) lone_.ops.room().take();
  EXPECT_EQ(announce().fetching, nullptr);
  EXPECT_TRUE(wire_.posted.empty());
}

TEST_F(EarlyFetches, StopWhenTheirMemoryIsUsedUpUntilAMessageIsTaken) {
  unexpected& first = announce();
  EXPECT_NE(announce().fetching, nullptr);
  EXPECT_EQ(announce().fetching, nullptr);
  comes(0);
  EXPECT_EQ(announce().fetching, nullptr) << "nobody has asked for the first";
  early_.note_taken(first);
  matcher_.messages.recycle(matcher_.messages.take(first));
  EXPECT_NE(announce().fetching, nullptr);
}

TEST_F(EarlyFetches, DeliverToWhoAsksOnTheWay) {
  take(announce(), into_, end_);
  batch_.run();
  EXPECT_EQ(end_.count, 0);
  comes(0);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.what.code, status::done);
  EXPECT_EQ(end_.what.bytes, bytes);
  EXPECT_EQ(end_.what.tag, its_tag);
  EXPECT_EQ(end_.what.peer, 1);
  EXPECT_EQ(into_, std::vector(bytes, std::byte{7}));
  EXPECT_EQ(peer_.announcements, 0u);
  expect_room_for_two();
}

TEST_F(EarlyFetches, DeliverNoMoreThanFits) {
  take(announce(), std::span(into_).first(10), end_);
  comes(0);
  EXPECT_EQ(end_.what.code, status::truncated);
  EXPECT_EQ(end_.what.bytes, 10u);
  EXPECT_EQ(into_[9], std::byte{7});
  EXPECT_EQ(into_[10], std::byte{0});
}

TEST_F(EarlyFetches, FailForWhoAsksOnTheWayWithTheSender) {
  take(announce(), into_, end_);
  comes(0, status::withdrawn);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::peer_lost);
  EXPECT_EQ(into_, std::vector(bytes, std::byte{0}));
  expect_room_for_two();
}

TEST_F(EarlyFetches, GiveBackWhatIsLostOnTheWay) {
  (void)announce();
  comes(0, status::peer_lost);
  EXPECT_EQ(matcher_.messages.find(1, its_tag), nullptr) << "nobody finds it any more";
  EXPECT_EQ(matcher_.messages.size(), 0u);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
  EXPECT_EQ(peer_.announcements, 0u);
  expect_fin(last_id_, status::peer_lost);
  expect_room_for_two();
}

TEST_F(EarlyFetches, TellWhoHoldsAMessageThatItIsLost) {
  unexpected& m = matcher_.messages.take(announce());
  m.held = true;
  comes(0, status::withdrawn);
  EXPECT_EQ(m.failed, status::peer_lost);
  EXPECT_EQ(m.fetching, nullptr);
  EXPECT_TRUE(m.held) << "it is still the holder's";
  matcher_.messages.recycle(m);
}

TEST_F(EarlyFetches, AMessageWithoutDataIsThereAtOnce) {
  unexpected& m = announce(0);
  EXPECT_FALSE(m.announced);
  EXPECT_EQ(m.fetching, nullptr);
  expect_fin(last_id_, status::done);
  EXPECT_TRUE(wire_.under_way.empty());
}

TEST_F(EarlyFetches, WaitForRoomOnTheWire) {
  wire_.room = 0;
  unexpected& m = announce();
  EXPECT_NE(m.fetching, nullptr);
  makes_room();
  comes(0);
  EXPECT_FALSE(m.announced);
}

}  // namespace
}  // namespace heddle::protocols
