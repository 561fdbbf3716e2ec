// SPDX-License-Identifier: BSD-3-Clause
// tagged_test.cpp - tagged messages on the receiver's side: which receive gets which, what the
// sender gets back, and how receives end that get none.
#include "protocols/tagged.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using test::ending;

class Tagged : public LoneReceivers {
 protected:
  static constexpr tag its_tag = 5;

  /// A message of `size` bytes, each of them `value`.
  void comes(int value, tag t = its_tag, std::size_t size = 8) {
    comes_from(peer_, value, t, size);
  }
  void comes_from(peer& p, int value, tag t = its_tag, std::size_t size = 8) {
    const std::vector data(size, std::byte{static_cast<unsigned char>(value)});
    message m;
    m.kind = message_kind::tag_eager;
    m.word = t;
    m.payload = data;
    tagged_.on_message(p, m);
    batch_.run();
  }
  void is_announced(std::uint64_t bytes, std::uint64_t id = 1, tag t = its_tag) {
    wire_.answer = status::posted;
    tagged_.on_message(peer_, rts(message_kind::tag_rts, t, bytes, id));
    batch_.run();
  }
  status receive(ending& end, std::span<std::byte> into, const tag_match& match = its_tag,
                 rank from = 1) {
    const status s = tagged_.receive(from, match, into, end);
    batch_.run();
    return s;
  }
  /// The wire ends the `n`th fetch.
  void fetched(std::size_t n, status code = status::done) {
    std::ranges::fill(under_way(n).memory, std::byte{9});
    transfers_.wire_ended(under_way(n), code);
    batch_.run();
  }

  std::array<std::byte, 8> into_{}, other_{};
  std::vector<std::byte> large_ = std::vector<std::byte>(10'000);
  ending end_, second_;
};

TEST_F(Tagged, AReceiveGetsTheMessageThatComesForIt) {
  EXPECT_EQ(receive(end_, into_), status::posted);
  EXPECT_EQ(lone_.ops.room().taken(), 1u);
  comes(1, its_tag + 1);
  EXPECT_EQ(end_.count, 0);
  comes(2);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.what.code, status::done);
  EXPECT_EQ(end_.what.bytes, 8u);
  EXPECT_EQ(end_.what.peer, 1);
  EXPECT_EQ(end_.what.lane, 0);
  EXPECT_EQ(end_.what.tag, its_tag);
  EXPECT_EQ(into_[7], std::byte{2});
  EXPECT_EQ(lone_.ops.room().taken(), 0u);
}

TEST_F(Tagged, AMessageThatNobodyWaitsForIsKeptInItsOrder) {
  comes(1);
  comes(2);
  EXPECT_EQ(lone_.counters.unexpected.get(), 2u);
  EXPECT_EQ(receive(end_, into_), status::posted);
  EXPECT_EQ(receive(second_, other_, any_tag, any_source), status::posted);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(into_[0], std::byte{1});
  EXPECT_EQ(second_.count, 1);
  EXPECT_EQ(other_[0], std::byte{2});
  EXPECT_EQ(lone_.ops.room().taken(), 0u);
}

TEST_F(Tagged, AMessageThatDoesNotFitIsCut) {
  EXPECT_EQ(receive(end_, std::span(into_).first(3)), status::posted);
  comes(1);
  comes(2);
  EXPECT_EQ(receive(second_, std::span(other_).first(3)), status::posted);
  for (const ending& each : {end_, second_}) {
    EXPECT_EQ(each.what.code, status::truncated);
    EXPECT_EQ(each.what.bytes, 3u);
  }
  EXPECT_EQ(into_[3], std::byte{0});
  EXPECT_EQ(other_[3], std::byte{0});
}

TEST_F(Tagged, AReceiveOfTheProgramsGetsNoneOfTheCollectivesMessages) {
  EXPECT_EQ(receive(end_, into_, {0, 0}, any_source), status::posted);
  comes(1, reserved_tag_bit | its_tag);
  EXPECT_EQ(end_.count, 0);
  EXPECT_EQ(receive(second_, other_, reserved_tag_bit | its_tag), status::posted);
  EXPECT_EQ(second_.count, 1);
}

TEST_F(Tagged, TheSenderGetsItsCreditBackWhenTheMessageIsReceived) {
  const std::uint64_t cost = credit::cost_of(8);
  peer_.credit.open(4 * cost, cost);
  EXPECT_EQ(receive(end_, into_), status::posted);
  comes(1);
  ASSERT_EQ(sent_kinds(), std::vector{message_kind::credit});
  EXPECT_EQ(last().word, cost);
  comes(2);
  EXPECT_EQ(wire_.messages.size(), 1u) << "nobody has received it";
  EXPECT_EQ(peer_.credit.held(), cost);
  EXPECT_EQ(receive(end_, into_), status::posted);
  EXPECT_EQ(wire_.messages.size(), 2u);
  EXPECT_EQ(peer_.credit.held(), 0u);
}

TEST_F(Tagged, APeerThatSendsWithoutCreditIsLost) {
  const std::uint64_t cost = credit::cost_of(8);
  peer_.credit.open(2 * cost, cost);
  comes(1);
  comes(2);
  EXPECT_TRUE(lone_.losses.lost.empty());
  comes(3);
  ASSERT_EQ(lone_.losses.lost.size(), 1u);
  EXPECT_EQ(lone_.losses.lost[0].first, &peer_);
  EXPECT_EQ(tagged_.matching().messages.size(), 2u);
}

TEST_F(Tagged, SaysWhyAReceiveWouldBeInVain) {
  EXPECT_EQ(receive(end_, into_, its_tag, 2), status::invalid);
  while (!lone_.ops.room().full()) lone_.ops.room().take();
  EXPECT_EQ(receive(end_, into_), status::busy_records);
  peer_.lost = true;
  EXPECT_EQ(receive(end_, into_), status::peer_lost);
  EXPECT_EQ(tagged_.matching().receives.size(), 0u);
  EXPECT_EQ(end_.count, 0);
}

// What has come is there, whatever has become of its sender, and needs no record.
TEST_F(Tagged, AMessageThatHasComeIsReceivedAlthoughItsSenderIsLostAndRecordsAreUsedUp) {
  comes(1);
  peer_.lost = true;
  while (!lone_.ops.room().full()) lone_.ops.room().take();
  EXPECT_EQ(receive(end_, into_), status::posted);
  EXPECT_EQ(end_.code, status::done);
}

TEST_F(Tagged, AProbeFindsTheOldestAndLeavesIt) {
  outcome found;
  EXPECT_EQ(tagged_.probe(any_source, any_tag, found), status::not_found);
  EXPECT_EQ(tagged_.probe(2, any_tag, found), status::invalid);
  comes(1, its_tag, 3);
  comes(2, its_tag + 1);
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_EQ(tagged_.probe(any_source, any_tag, found), status::done);
    EXPECT_EQ(found.tag, its_tag);
    EXPECT_EQ(found.bytes, 3u);
    EXPECT_EQ(found.peer, 1);
  }
}

TEST_F(Tagged, AReceiveThatIsTakenBackGetsNothing) {
  EXPECT_EQ(receive(end_, into_), status::posted);
  EXPECT_EQ(receive(second_, other_), status::posted);
  EXPECT_EQ(tagged_.cancel(end_), status::done);
  EXPECT_EQ(tagged_.cancel(end_), status::not_found);
  comes(1);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::canceled);
  EXPECT_EQ(second_.code, status::done);
  EXPECT_EQ(other_[0], std::byte{1});
  EXPECT_EQ(lone_.ops.room().taken(), 0u);
}

TEST_F(Tagged, OnlyTheReceivesThatNameASourceEndWithIt) {
  ending wild;
  EXPECT_EQ(receive(end_, into_), status::posted);
  EXPECT_EQ(receive(wild, other_, its_tag, any_source), status::posted);
  EXPECT_EQ(receive(second_, other_, any_tag), status::posted);
  tagged_.end_receives(1, status::peer_lost);
  batch_.run();
  EXPECT_EQ(end_.code, status::peer_lost);
  EXPECT_EQ(second_.code, status::peer_lost);
  EXPECT_EQ(second_.what.peer, 1);
  EXPECT_EQ(wild.count, 0);
  EXPECT_EQ(lone_.ops.room().taken(), 1u);
}

// --- announced ones --------------------------------------------------------------------

TEST_F(Tagged, ALargeMessageIsFetchedIntoTheReceiveThatWaitsForIt) {
  EXPECT_EQ(receive(end_, large_), status::posted);
  is_announced(large_.size(), 8);
  ASSERT_EQ(wire_.posted.size(), 1u);
  EXPECT_EQ(wire_.posted[0].memory.data(), large_.data());
  EXPECT_EQ(end_.count, 0);
  fetched(0);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.what.bytes, large_.size());
  EXPECT_EQ(end_.what.tag, its_tag);
  EXPECT_EQ(last().kind, message_kind::fin);
  EXPECT_EQ(last().word, 8u);
  EXPECT_EQ(lone_.ops.room().taken(), 0u);
  EXPECT_EQ(peer_.announcements, 0u);
}

TEST_F(Tagged, ALargeMessageThatNobodyWaitsForStaysAtItsSender) {
  is_announced(large_.size(), 8);
  EXPECT_TRUE(wire_.posted.empty());
  EXPECT_EQ(peer_.announcements, 1u);
  outcome found;
  EXPECT_EQ(tagged_.probe(1, its_tag, found), status::done);
  EXPECT_EQ(found.bytes, large_.size());
  EXPECT_EQ(receive(end_, large_), status::posted);
  EXPECT_EQ(peer_.announcements, 0u);
  fetched(0);
  EXPECT_EQ(end_.code, status::done);
}

TEST_F(Tagged, ALargeMessageThatDoesNotFitIsFetchedAsFarAsItDoes) {
  EXPECT_EQ(receive(end_, std::span(large_).first(100)), status::posted);
  is_announced(large_.size());
  EXPECT_EQ(wire_.posted[0].memory.size(), 100u);
  fetched(0);
  EXPECT_EQ(end_.what.code, status::truncated);
  EXPECT_EQ(end_.what.bytes, 100u);
}

TEST_F(Tagged, AnAnnouncementIsReceivedInItsOrderAmongMessages) {
  is_announced(large_.size());
  comes(2);
  EXPECT_EQ(receive(end_, large_), status::posted);
  EXPECT_EQ(receive(second_, into_), status::posted);
  EXPECT_EQ(second_.count, 1);
  fetched(0);
  EXPECT_EQ(large_[0], std::byte{9});
  EXPECT_EQ(into_[0], std::byte{2});
}

TEST_F(Tagged, AnAnnouncedSmallMessageIsFetchedAheadAndReceivedOnTheWayOrWhenItIsHere) {
  is_announced(8, 1);
  is_announced(8, 2);
  ASSERT_EQ(wire_.posted.size(), 2u);
  EXPECT_EQ(receive(end_, into_), status::posted);
  fetched(1);
  fetched(0);
  EXPECT_EQ(receive(second_, other_), status::posted);
  for (const ending& each : {end_, second_}) {
    EXPECT_EQ(each.count, 1);
    EXPECT_EQ(each.what.bytes, 8u);
  }
  EXPECT_EQ(into_[0], std::byte{9});
  EXPECT_EQ(peer_.announcements, 0u);
  // Their memory is there for the next ones.
  for (std::size_t i = 0; i < most_early / credit::cost_of(8); ++i) is_announced(8, i);
  EXPECT_EQ(wire_.under_way.size(), 2 + most_early / credit::cost_of(8));
}

TEST_F(Tagged, APeerThatAnnouncesWithoutEndIsLost) {
  peer_.announcements = lone_.ops.room().most_of_peer(peer::announcements_each) - 1;
  is_announced(large_.size());
  EXPECT_TRUE(lone_.losses.lost.empty());
  is_announced(large_.size());
  EXPECT_EQ(lone_.losses.lost.size(), 1u);
  EXPECT_EQ(receive(end_, large_), status::posted);
  is_announced(large_.size());
  EXPECT_EQ(lone_.losses.lost.size(), 1u) << "one that somebody waits for is none of those";
}

// --- taken out of matching -------------------------------------------------------------

class TaggedTaken : public Tagged {
 protected:
  detail::taken_message take() {
    detail::taken_message found{};
    EXPECT_EQ(tagged_.matched().take(1, its_tag, found), status::done);
    return found;
  }
  void receive_taken(const detail::taken_message& m, std::span<std::byte> into) {
    EXPECT_EQ(tagged_.receive_taken(*m.message, into, end_), status::posted);
    batch_.run();
  }
};

TEST_F(TaggedTaken, IsReceivedByWhoHasIt) {
  comes(1);
  const auto m = take();
  EXPECT_EQ(receive(second_, other_), status::posted);
  EXPECT_EQ(second_.count, 0);
  receive_taken(m, into_);
  EXPECT_EQ(end_.what.code, status::done);
  EXPECT_EQ(into_[0], std::byte{1});
  EXPECT_EQ(peer_.credit.held(), 0u);
}

TEST_F(TaggedTaken, IsFetchedWhenItIsReceived) {
  is_announced(large_.size(), 8);
  const auto m = take();
  EXPECT_TRUE(wire_.posted.empty());
  receive_taken(m, large_);
  fetched(0);
  EXPECT_EQ(end_.what.code, status::done);
  EXPECT_EQ(end_.what.bytes, large_.size());
}

TEST_F(TaggedTaken, IsLostWithItsSenderWhereItsDataIsThere) {
  is_announced(large_.size());
  const auto m = take();
  peer_.lost = true;
  receive_taken(m, large_);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::peer_lost);
  EXPECT_TRUE(wire_.posted.empty());
}

TEST_F(TaggedTaken, IsLostWhenItsFetchAheadFails) {
  is_announced(8);
  const auto m = take();
  fetched(0, status::peer_lost);
  receive_taken(m, into_);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::peer_lost);
  EXPECT_EQ(into_[0], std::byte{0});
}

TEST_F(TaggedTaken, GoesToWhoWaitsToTakeOne) {
  detail::taken_message place{};
  EXPECT_EQ(tagged_.matched().take_or_wait(1, its_tag, place, second_), status::posted);
  is_announced(8, 8);
  EXPECT_EQ(second_.count, 1);
  EXPECT_TRUE(wire_.posted.empty()) << "who has it says where it goes";
  receive_taken(place, into_);
  fetched(0);
  EXPECT_EQ(end_.what.code, status::done);
  EXPECT_EQ(into_[0], std::byte{9});
}

}  // namespace
}  // namespace heddle::protocols
