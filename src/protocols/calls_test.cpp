// SPDX-License-Identifier: BSD-3-Clause
// calls_test.cpp - small calls, which run when they come, and large ones, which are fetched so many
// bytes at a time.
#include "protocols/calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

/// Two handlers: one is told all of a call at once, one at its header.
class Calls : public LoneReceivers {
 protected:
  static constexpr handler_id whole = 1, at_header = 2, unknown = 3;
  static constexpr std::uint64_t mib = 1 << 20;

  struct heard {
    destination source;
    std::vector<std::byte> header, payload;  ///< of the payload, what it begins with
    std::size_t bytes;                       ///< of all of it
  };
  static void note(void* to, lane&, const call_message& c) noexcept {
    const auto begin = c.payload.first(std::min<std::size_t>(c.payload.size(), 100));
    static_cast<std::vector<heard>*>(to)->push_back({{c.source, c.lane},
                                                     {c.header.begin(), c.header.end()},
                                                     {begin.begin(), begin.end()},
                                                     c.payload.size()});
  }

  Calls() {
    handlers_[whole].set(&handler_);
    header_handlers_[at_header].set(&handler_);
    wire_.answer = status::posted;
  }
  void comes_whole(handler_id h) {
    message m;
    m.kind = message_kind::call_eager;
    m.handler = h;
    m.header = std::span(body_).first(2);
    m.payload = std::span(body_).subspan(2);
    calls_.on_message(peer_, m);
    batch_.run();
  }
  void is_announced(handler_id h, std::uint64_t bytes, std::uint64_t id = 1) {
    message m = rts(message_kind::call_rts, 0, bytes, id);
    m.handler = h;
    m.header = std::span(body_).first(2);
    calls_.on_message(peer_, m);
    batch_.run();
  }
  /// The wire ends the `n`th fetch.
  void fetched(std::size_t n, status code = status::done) {
    request& r = under_way(n);
    if (!r.memory.empty()) r.memory[0] = std::byte{7};
    transfers_.wire_ended(r, code);
    batch_.run();
  }
  /// What a header handler was given as payload.
  [[nodiscard]] unexpected& held(std::size_t n) {
    held_payload p{};
    EXPECT_EQ(heard_.at(n).bytes, sizeof p);
    std::memcpy(&p, heard_.at(n).payload.data(), sizeof p);
    return tagged_.matched().release(*p.message.message);
  }
  void expect_fin(std::uint64_t id, status code) const {
    EXPECT_EQ(last().kind, message_kind::fin);
    EXPECT_EQ(last().word, id);
    EXPECT_EQ(status_of(last().flag), code);
  }

  std::vector<heard> heard_;
  const handler_entry handler_{&note, &heard_};
  const std::array<std::byte, 5> body_{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                       std::byte{5}};
  const std::vector<std::byte> header_{std::byte{1}, std::byte{2}},
      payload_{std::byte{3}, std::byte{4}, std::byte{5}};
};

TEST_F(Calls, RunTheirHandlerWhenTheyCome) {
  comes_whole(whole);
  ASSERT_EQ(heard_.size(), 1u);
  EXPECT_EQ(heard_[0].source.to, 1);
  EXPECT_EQ(heard_[0].source.lane, 0);
  EXPECT_EQ(heard_[0].header, header_);
  EXPECT_EQ(heard_[0].payload, payload_);
}

TEST_F(Calls, AreCountedWhereThereIsNoHandler) {
  comes_whole(unknown);
  EXPECT_EQ(lone_.counters.unknown_handler.get(), 1u);
  EXPECT_TRUE(batch_.empty());
}

TEST_F(Calls, AreHeldForAHandlerThatIsToldAtTheHeader) {
  comes_whole(at_header);
  ASSERT_EQ(heard_.size(), 1u);
  EXPECT_EQ(heard_[0].header, header_);
  unexpected& m = held(0);
  EXPECT_EQ(std::vector(m.data(), m.data() + m.bytes), payload_);
  EXPECT_EQ(m.credit, 0u) << "calls take none";
}

TEST_F(Calls, LargeOnesAreFetchedBeforeTheirHandlerRuns) {
  is_announced(whole, 10'000, 8);
  EXPECT_TRUE(heard_.empty());
  ASSERT_EQ(wire_.under_way.size(), 1u);
  EXPECT_EQ(under_way(0).memory.size(), 10'000u);
  fetched(0);
  ASSERT_EQ(heard_.size(), 1u);
  EXPECT_EQ(heard_[0].header, header_);
  EXPECT_EQ(heard_[0].bytes, 10'000u);
  EXPECT_EQ(heard_[0].payload[0], std::byte{7});
  expect_fin(8, status::done);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
  EXPECT_EQ(peer_.announcements, 0u);
}

TEST_F(Calls, LargeOnesWaitForMemoryInTheirOrder) {
  is_announced(whole, 40 * mib, 1);
  is_announced(whole, 40 * mib, 2);
  is_announced(whole, 8, 3);
  EXPECT_EQ(wire_.under_way.size(), 1u);
  EXPECT_EQ(peer_.announcements, 2u);
  fetched(0);
  ASSERT_EQ(wire_.under_way.size(), 3u);
  EXPECT_EQ(under_way(1).memory.size(), 40 * mib);
  EXPECT_EQ(under_way(2).memory.size(), 8u);
}

TEST_F(Calls, OneOfAnySizeIsLetInAlone) {
  is_announced(whole, 65 * mib);
  EXPECT_EQ(wire_.under_way.size(), 1u);
}

TEST_F(Calls, AFailedFetchRunsNothingAndMakesRoom) {
  is_announced(whole, 40 * mib, 1);
  is_announced(whole, 40 * mib, 2);
  fetched(0, status::withdrawn);
  EXPECT_TRUE(heard_.empty());
  EXPECT_EQ(wire_.under_way.size(), 2u);
  EXPECT_EQ(sent().front().word, 1u);
  EXPECT_EQ(status_of(sent().front().flag), status::peer_lost);
}

TEST_F(Calls, LargeOnesWithoutAHandlerLetTheirSenderGo) {
  is_announced(unknown, 10'000, 8);
  EXPECT_TRUE(wire_.under_way.empty());
  expect_fin(8, status::done);
  EXPECT_EQ(lone_.counters.unknown_handler.get(), 1u);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
}

TEST_F(Calls, LargeOnesThatThereIsNoMemoryForAreRefused) {
  is_announced(whole, ~std::uint64_t{0}, 8);
  EXPECT_TRUE(wire_.under_way.empty());
  expect_fin(8, status::no_memory);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
  is_announced(whole, 65 * mib, 9);
  EXPECT_EQ(wire_.under_way.size(), 1u) << "they use none either";
}

TEST_F(Calls, LargeOnesTellAHandlerOfTheHeaderWhereTheDataIs) {
  is_announced(at_header, 10'000, 8);
  ASSERT_EQ(heard_.size(), 1u);
  EXPECT_TRUE(wire_.posted.empty()) << "it says itself where the payload goes";
  unexpected& m = held(0);
  EXPECT_TRUE(m.announced);
  EXPECT_EQ(m.bytes, 10'000u);
  EXPECT_EQ(m.data_at.id, 8u);
  EXPECT_EQ(peer_.announcements, 1u);
}

TEST_F(Calls, LargeOnesAreForTheHandlerThatThereIsWhenTheyHaveCome) {
  is_announced(whole, 10'000, 1);
  is_announced(whole, 10'000, 2);
  header_handlers_[whole].set(&handler_);
  handlers_[whole].set(nullptr);
  fetched(0);
  ASSERT_EQ(heard_.size(), 1u);
  unexpected& m = held(0);
  EXPECT_FALSE(m.announced);
  EXPECT_EQ(m.bytes, 10'000u);
  EXPECT_EQ(*m.data(), std::byte{7});
  header_handlers_[whole].set(nullptr);
  fetched(1);
  EXPECT_EQ(heard_.size(), 1u);
  EXPECT_EQ(lone_.counters.unknown_handler.get(), 1u);
  expect_fin(2, status::done);
}

TEST_F(Calls, NoneBeginsWhileTheyAreHeldBack) {
  is_announced(whole, 40 * mib, 1);
  is_announced(whole, 40 * mib, 2);
  const bool before = calls_.hold_back();
  const bool within = calls_.hold_back();
  fetched(0, status::peer_lost);
  calls_.go_on(within);
  EXPECT_EQ(wire_.under_way.size(), 1u) << "the other one still holds them";
  calls_.go_on(before);
  EXPECT_EQ(wire_.under_way.size(), 2u);
}

TEST_F(Calls, OneThatEndsWhileItWaitsTakesNoMemoryAlong) {
  is_announced(whole, 40 * mib, 1);
  is_announced(whole, 40 * mib, 2);
  request& waits = *peer_requests::next(*peer_.requests.front());
  ASSERT_EQ(waits.at, stage::deferred);
  take_in_hand(waits);
  calls_.ended(waits, status::peer_lost);
  expect_fin(2, status::peer_lost);
  fetched(0);
  is_announced(whole, 65 * mib, 3);
  EXPECT_EQ(wire_.under_way.size(), 2u);
}

TEST_F(Calls, APeerThatAnnouncesWithoutEndIsLost) {
  peer_.announcements = lone_.ops.room().most_of_peer(peer::announcements_each) - 1;
  is_announced(at_header, 10'000);
  EXPECT_TRUE(lone_.losses.lost.empty());
  is_announced(at_header, 10'000);
  EXPECT_EQ(lone_.losses.lost.size(), 1u);
  EXPECT_EQ(heard_.size(), 1u);
}

TEST_F(Calls, ANotificationCarriesItsValueAsTheHeader) {
  message m;
  m.kind = message_kind::call_eager;
  m.handler = 9;
  m.operand = 0x0102;
  EXPECT_EQ(calls_.say(peer_, m), status::done);
  EXPECT_EQ(last().handler, 9);
  ASSERT_EQ(last().header.size(), sizeof m.operand);
  EXPECT_EQ(last().header[0], std::byte{2});
  EXPECT_TRUE(last().payload.empty());
}

}  // namespace
}  // namespace heddle::protocols
