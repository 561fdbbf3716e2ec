// SPDX-License-Identifier: BSD-3-Clause
// arrivals_test.cpp - what a wire tells: who hears of a message, of an end, of a peer that is gone;
// and messages that no engine sends.
#include "protocols/arrivals.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using test::ending;
using transport::event;
using transport::op_kind;

class Arrivals : public LoneReceivers {
 protected:
  static constexpr tag its_tag = 5;
  static constexpr handler_id handler = 9;

  /// Notes the messages of all kinds that belong to nobody else.
  struct noting final : protocol {
    using protocol::protocol;
    void on_message(peer& from, const message& m) override { heard.emplace_back(&from, m.kind); }
    std::vector<std::pair<peer*, message_kind>> heard;
  };

  Arrivals() {
    lone_.losses.also = &liveness_;
    for (protocol*& each : lone_.kinds)
      if (each == nullptr) each = &others_;
    lone_.kinds[index_of(message_kind::pong)] = &others_;
    handlers_[handler].set(&entry_);
  }
  static event arrived(transport::remote_lane* from, std::span<const std::byte> bytes) {
    return {event::kind_t::arrived, status::done, from, nullptr, bytes};
  }
  event message_from(transport::remote_lane* from, const message& m,
                     const std::vector<std::byte>& payload = {}) {
    const prefix front(m);
    auto& bytes = bytes_.emplace_back(front.bytes().begin(), front.bytes().end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return arrived(from, bytes);
  }
  static message eager_message(tag t = its_tag) {
    message m;
    m.kind = message_kind::tag_eager;
    m.word = t;
    return m;
  }
  void tell(const std::vector<event>& news) {
    arrivals_.take(news);
    batch_.run();
  }
  void receives(ending& end, rank from = any_source) {
    EXPECT_EQ(tagged_.receive(from, its_tag, into_, end), status::posted);
  }

  noting others_{lone_.path};
  liveness liveness_{where_, lone_.path, peers_, lone_.ops, tagged_, calls_, lone_.counters};
  arrivals arrivals_{where_,     lone_.kinds, lone_.path, peers_,    lone_.ops,
                     transfers_, tagged_,     calls_,     liveness_, lone_.counters};
  int called_ = 0;
  const handler_entry entry_{[](void* calls, lane&, const call_message& c) noexcept {
                               *static_cast<int*>(calls) +=
                                   static_cast<int>(100 + 10 * c.header.size() + c.payload.size());
                             },
                             &called_};
  std::deque<std::vector<std::byte>> bytes_;
  std::array<std::byte, 8> into_{};
  transport::remote_lane* const from_ = peer_.wire.to;
  ending end_;
};

TEST_F(Arrivals, AMessageIsHeardByWhoItBelongsTo) {
  receives(end_);
  message call;
  call.kind = message_kind::call_eager;
  call.handler = handler;
  call.header = std::span(into_).first(2);
  message pong;
  pong.kind = message_kind::pong;
  tell({message_from(from_, eager_message(), {std::byte{7}}),
        message_from(from_, call, std::vector<std::byte>(3)), message_from(from_, pong)});
  EXPECT_EQ(end_.what.bytes, 1u);
  EXPECT_EQ(into_[0], std::byte{7});
  EXPECT_EQ(called_, 100 + 10 * 2 + 3);
  EXPECT_EQ(others_.heard, (std::vector{std::pair{&peer_, message_kind::pong}}));
  EXPECT_EQ(lone_.counters.events.get(), 3u);
}

TEST_F(Arrivals, AreCountedAndASignOfLife) {
  const event e = message_from(from_, eager_message(), std::vector<std::byte>(8));
  EXPECT_FALSE(peer_.heard);
  tell({e, e});
  EXPECT_TRUE(peer_.heard);
  EXPECT_EQ(peer_.received_messages, 2u);
  EXPECT_EQ(peer_.received_bytes, 2 * e.bytes.size());
}

TEST_F(Arrivals, MakeALaneThatNobodyHasHadToDoWithKnown) {
  transport::remote_lane* const stranger = wire_.reach(1, 9);
  ASSERT_EQ(peers_.find({1, 9}), nullptr);
  receives(end_);
  tell({message_from(stranger, eager_message())});
  EXPECT_EQ(end_.what.lane, 9);
  EXPECT_EQ(stranger->user, peers_.find({1, 9}));
  ASSERT_NE(stranger->user, nullptr);
}

TEST_F(Arrivals, AreDroppedWhereThereIsNoMemoryForTheirSender) {
  transport::remote_lane* const stranger = wire_.reach(1, 9);
  wire_.no_memory = true;
  tell({message_from(stranger, eager_message()),
        {event::kind_t::peer_lost, status::peer_lost, stranger, nullptr, {}}});
  EXPECT_EQ(tagged_.matching().messages.size(), 0u);
  EXPECT_EQ(lone_.counters.lost_peers.get(), 0u);
}

TEST_F(Arrivals, MessagesThatNoEngineSendsLoseTheirSender) {
  std::vector<std::vector<std::byte>> bad;
  bad.emplace_back();                             // nothing
  bad.emplace_back(base_bytes - 1);               // less than every message has
  bad.emplace_back(base_bytes, std::byte{0xff});  // of no kind
  const prefix rts_front(rts(message_kind::tag_rts, its_tag, 8, 1));
  bad.emplace_back(rts_front.bytes().begin(), rts_front.bytes().end() - 1);  // cut off
  const auto call = [&](handler_id h, std::size_t header_bytes) {
    const auto head = head_of_call(h, header_bytes);
    const auto bytes = std::as_bytes(std::span(&head, 1));
    bad.emplace_back(bytes.begin(), bytes.end());
    bad.back().resize(base_bytes + 70);
  };
  call(max_handlers, 0);
  call(handler, max_call_header + 1);
  call(handler, 71);
  for (const auto& each : bad) {
    peer_.lost = other_lane_.lost = false;
    lone_.losses.lost.clear();
    tell({arrived(from_, each)});
    ASSERT_EQ(lone_.losses.lost.size(), 1u) << each.size() << " bytes";
    EXPECT_EQ(lone_.losses.lost[0].first, &peer_);
  }
  EXPECT_EQ(called_, 0);
  EXPECT_EQ(lone_.counters.violations.get(), bad.size());
}

// Both have come in one look at the wire, which therefore keeps back neither.
TEST_F(Arrivals, NothingIsTakenOfAPeerThatHasBrokenTheRules) {
  receives(end_);
  message call;
  call.kind = message_kind::call_eager;
  call.handler = handler;
  message pong;
  pong.kind = message_kind::pong;
  const event good = message_from(from_, eager_message());
  tell({good});
  EXPECT_EQ(end_.count, 1);
  receives(end_);
  tell({arrived(from_, {}), good, message_from(from_, call), message_from(from_, pong),
        message_from(other_lane_.wire.to, eager_message())});
  EXPECT_TRUE(peer_.lost);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(called_, 0);
  EXPECT_TRUE(others_.heard.empty());
}

TEST_F(Arrivals, WhatCameBeforeThePeerWasLostIsTaken) {
  receives(end_);
  tell({message_from(from_, eager_message()), arrived(from_, {})});
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::done);
  EXPECT_TRUE(peer_.lost);
}

TEST_F(Arrivals, APeerThatIsGoneHasLeftWithTheWiresWords) {
  receives(end_, 1);
  tell({{event::kind_t::peer_lost, status::peer_lost, from_, nullptr,
         transport::bytes_of("its process has ended")}});
  EXPECT_TRUE(peer_.lost);
  EXPECT_FALSE(other_lane_.lost) << "what comes from there is still taken";
  tell({{event::kind_t::peer_lost, status::peer_lost, other_lane_.wire.to, nullptr, {}}});
  EXPECT_EQ(end_.code, status::peer_lost);
  EXPECT_EQ(losses_.why(0, 1), "its process has ended");
}

TEST_F(Arrivals, TheEndOfAnAccessThatWentStraightIsToldAtOnce) {
  request& r = lone_.ops.pool().take();
  lone_.ops.begin_direct(r, peer_, command_kind::put, end_);
  tell({{event::kind_t::ended, status::withdrawn, from_, &r, {}}});
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::withdrawn);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
}

TEST_F(Arrivals, TheEndOfAnyOtherIsItsOwners) {
  test_owner owner(lone_.path, lone_.ops, [](request&) { return status::posted; });
  request& r = begin(op_kind::get, into_, owner);
  r.at = stage::wire;
  tell({{event::kind_t::ended, status::done, from_, &r, {}}});
  EXPECT_EQ(owner.ends, std::vector{status::done});
}

}  // namespace
}  // namespace heddle::protocols
