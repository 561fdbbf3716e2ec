// SPDX-License-Identifier: BSD-3-Clause
// port_fetch_test.cpp - reading announced messages, before and after somebody waits for them, over
// a wire that does what the test tells it to.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "support/message_port_fixture.h"

namespace heddle::protocols {
namespace {

using test::ending;
using transport::event;
using transport::op;

/// A small message that is announced while nobody waits for it; the wire reads it, or refuses.
class PortEarlyFetch : public Port {
 protected:
  void announce(tag t, std::uint64_t id) {
    message m;
    m.kind = message_kind::tag_rts;
    m.word = t;
    m.slot = m.generation = 1;
    m.bytes = 1;
    m.id = id;
    wire_.answer = status::posted;
    arrives(m);
    wire_.answer = status::done;
  }
  /// The wire has read the `n`th.
  void arrived(std::size_t n, std::byte value, status code = status::done) {
    op& o = *wire_.under_way.at(n);
    if (code == status::done) o.memory[0] = value;
    wire_.events.push_back({event::kind_t::ended, code, wire_.reach(1), &o, {}});
    progress();
  }
  status receive(ending& end, std::span<std::byte> into) {
    return port_->dispatch().execute(command_of(command_kind::recv, small_tag, into, end), batch_);
  }
};

TEST_F(PortEarlyFetch, ReadsItAndLetsTheSenderGo) {
  start();
  announce(small_tag, 5);
  ASSERT_EQ(wire_.under_way.size(), 1u);
  arrived(0, std::byte{9});
  EXPECT_EQ(last_kind(), message_kind::fin);
  ending end;
  EXPECT_EQ(receive(end, one_), status::posted);
  batch_.run();
  EXPECT_EQ(end.code, status::done);
  EXPECT_EQ(one_[0], std::byte{9});
  EXPECT_TRUE(port_->quiet());
}

TEST_F(PortEarlyFetch, KeepsTheOrderOfAnnouncementsWhateverArrivesFirst) {
  start();
  announce(small_tag, 5);
  announce(small_tag, 6);
  arrived(1, std::byte{22});
  ending first, second;
  (void)receive(first, one_);
  (void)receive(second, two_);
  batch_.run();
  EXPECT_EQ(first.count, 0) << "it is on its way";
  EXPECT_EQ(second.count, 1);
  arrived(0, std::byte{11});
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(one_[0], std::byte{11});
  EXPECT_EQ(two_[0], std::byte{22});
}

TEST_F(PortEarlyFetch, StopsWhenItsMemoryIsUsedUpAndGoesOnWhenSomeIsTaken) {
  config_.unexpected_bytes = 2 * credit::cost_of(1);
  start();
  for (std::uint64_t id = 1; id <= 3; ++id) announce(small_tag, id);
  EXPECT_EQ(wire_.under_way.size(), 2u);
  arrived(0, std::byte{1});
  ending end;
  (void)receive(end, one_);
  batch_.run();
  EXPECT_EQ(end.count, 1);
  announce(small_tag, 4);
  EXPECT_EQ(wire_.under_way.size(), 3u);
}

TEST_F(PortEarlyFetch, TellsInPortionsThatTheProgramTakesThem) {
  config_.credit_bytes = 16 * 2 * credit::cost_of(1);
  start();
  for (std::size_t n = 0; n < 2; ++n) {
    announce(small_tag, n);
    arrived(n, std::byte{1});
  }
  ending end;
  (void)receive(end, one_);
  EXPECT_EQ(last_kind(), message_kind::fin);
  (void)receive(end, one_);
  batch_.run();
  message told;
  ASSERT_TRUE(parse_message(wire_.messages.back(), told));
  EXPECT_EQ(told.kind, message_kind::credit);
  EXPECT_EQ(told.word, 0u) << "they took none";
}

TEST_F(Port, GivesCreditBackInSmallerPortionsOverAWireThatOnlyCopies) {
  for (const bool copies : {false, true}) {
    config_.credit_bytes = 64 * credit::cost_of(1);
    wire_.copies_in_post = copies;
    start();
    std::size_t portion = 0;
    for (std::uint64_t given = 0; given == 0 && portion < 64; ++portion) {
      message m;
      m.kind = message_kind::tag_eager;
      m.word = small_tag;
      arrives(m, {std::byte{1}});
      ending end;
      (void)port_->dispatch().execute(command_of(command_kind::recv, small_tag, one_, end), batch_);
      batch_.run();
      message told;
      const bool some = !wire_.messages.empty() && parse_message(wire_.messages.back(), told);
      given = some && told.kind == message_kind::credit ? told.word : 0;
    }
    EXPECT_EQ(portion, copies ? 2u : 4u);
    wire_.messages.clear();
  }
}

TEST_F(PortEarlyFetch, ForgetsAMessageThatCannotBeReadAndEndsAReceiveThatHasIt) {
  start();
  announce(small_tag, 1);
  announce(small_tag, 2);
  ending end;
  (void)receive(end, one_);
  arrived(1, {}, status::withdrawn);
  arrived(0, {}, status::withdrawn);
  EXPECT_EQ(end.code, status::peer_lost);
  outcome found;
  EXPECT_EQ(port_->tagged().probe(1, any_tag, found), status::not_found);
  EXPECT_TRUE(port_->quiet());
}

TEST_F(PortEarlyFetch, EndsWithItsPeer) {
  start();
  announce(small_tag, 1);
  announce(small_tag, 2);
  ending end;
  (void)receive(end, one_);
  wire_.events.push_back(
      {event::kind_t::peer_lost, status::peer_lost, wire_.reach(1), nullptr, {}});
  progress();
  arrived(1, {}, status::peer_lost);
  arrived(0, {}, status::peer_lost);
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_TRUE(port_->quiet());
}

/// The receive of a large message, which the wire is reading.
class PortFetch : public Port {
 protected:
  port& fetch(ending& end) {
    port& p = start();
    is_announced();
    wire_.answer = status::posted;
    EXPECT_EQ(p.dispatch().execute(receive_large(end), batch_), status::posted);
    wire_.answer = status::done;
    return p;
  }
  void ends(status code) {
    wire_.events.push_back(
        {event::kind_t::ended, code, wire_.reach(1), wire_.under_way.back(), {}});
    progress();
  }
  /// The sender answers each of the questions for a part of its data, all of which is ones.
  void are_answered() {
    const auto asked = std::exchange(wire_.messages, {});
    for (const auto& bytes : asked) {
      message question;
      ASSERT_TRUE(parse_message(bytes, question));
      ASSERT_EQ(question.kind, message_kind::rma_get);
      message m;
      m.kind = message_kind::rma_data;
      m.word = question.word;
      m.position = question.offset;
      arrives(m, std::vector<std::byte>(question.bytes, std::byte{1}));
    }
  }
};

TEST_F(PortFetch, GoesOnByMessagesWhenTheWireRefusesItLate) {
  ending end;
  fetch(end);
  ends(status::unsupported);
  EXPECT_EQ(end.count, 0);
  EXPECT_EQ(last_kind(), message_kind::rma_get);
}

TEST_F(PortFetch, StaysWithMessagesWhenTheWireHasNoRoomForAllOfThem) {
  ending end;
  port& p = fetch(end);
  wire_.room = 1;
  ends(status::unsupported);
  wire_.room = SIZE_MAX;
  wire_.answer = status::posted;
  progress();
  EXPECT_EQ(wire_.under_way.size(), 1u) << "the wire was asked again";
  are_answered();
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::done);
  EXPECT_TRUE(into_ == std::vector<std::byte>(large, std::byte{1}));
  EXPECT_EQ(p.counters().violations.get(), 0u);
}

/// The same of a call, whose data is asked for at once.
class PortCallFetch : public PortFetch {
 protected:
  port& fetch_call(std::uint8_t flag, std::uint32_t slot, std::uint32_t generation) {
    handlers_[1].set(&handler_);
    port& p = start();
    wire_.answer = status::posted;
    message m;
    m.kind = message_kind::call_rts;
    m.handler = 1;
    m.flag = flag;
    m.slot = slot;
    m.generation = generation;
    m.bytes = large;
    m.id = 1;
    arrives(m);
    wire_.answer = status::done;
    return p;
  }
  static void count(void* calls, lane&, const call_message&) noexcept {
    ++*static_cast<int*>(calls);
  }
  int calls_ = 0;
  handler_entry handler_{&count, &calls_};
};

TEST_F(PortCallFetch, IsCountedWhenItsHandlerIsTakenAwayMeanwhile) {
  port& p = fetch_call(0, 1, 1);
  handlers_[1].set(nullptr);
  ends(status::done);
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(p.counters().unknown_handler.get(), 1u);
  EXPECT_TRUE(p.quiet());
}

// As handler_table sets one kind in place of the other.
TEST_F(PortCallFetch, IsForTheHandlerOfTheOtherKindThatHasBeenSetMeanwhile) {
  port& p = fetch_call(0, 1, 1);
  header_handlers_[1].set(&handler_);
  handlers_[1].set(nullptr);
  ends(status::done);
  batch_.run();
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(p.counters().unknown_handler.get(), 0u);
}

TEST_F(PortCallFetch, OfARegionThatIsNoneIsNoMappedOne) {
  (void)fetch_call(1, 0, 0);  // as a hostile peer announces it
  EXPECT_EQ(calls_, 0);
}

TEST_F(PortFetch, IsLostWithASenderThatHasTakenTheDataAway) {
  for (const status code : {status::withdrawn, status::denied, status::out_of_bounds}) {
    ending end;
    fetch(end);
    ends(code);
    EXPECT_EQ(end.count, 1);
    EXPECT_EQ(end.code, status::peer_lost) << name_of(code);
  }
}

/// What a port announces that sends a large message from `data`.
class PortAnnouncement : public Port {
 protected:
  message announced(std::span<std::byte> data) {
    port& p = start();
    EXPECT_EQ(p.dispatch().execute(send(data), batch_), status::posted);
    message m;
    EXPECT_TRUE(parse_message(wire_.messages.back(), m));
    EXPECT_EQ(m.kind, message_kind::tag_rts);
    return m;
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(large + 100);
};

TEST_F(PortAnnouncement, OfHeddlesOwnMemoryNamesTheRegionThatItIsPartOf) {
  for (const int memfd : {-1, 3}) {
    const auto region = regions_.add(memory_, rights::all, {memfd, true});
    const message m = announced(std::span(memory_).subspan(100));
    EXPECT_EQ((memory::region_ref{m.slot, m.generation}), region.ref);
    EXPECT_EQ(m.offset, 100u);
    EXPECT_EQ(m.flag, memfd == 3) << "only a file can be mapped";
    regions_.remove(region.ref);
  }
}

TEST_F(PortAnnouncement, OfMemoryThatPeersMayNotReadOrThatIsTheProgramsNamesARegionOfItsOwn) {
  for (const memory::backing on :
       {memory::backing{.lasts = false}, memory::backing{.lasts = true}}) {
    const auto region = regions_.add(memory_, on.lasts ? rights::write : rights::all, on);
    const message m = announced(std::span(memory_).subspan(100));
    EXPECT_NE((memory::region_ref{m.slot, m.generation}), region.ref);
    EXPECT_EQ(m.offset, 0u);
    EXPECT_EQ(m.flag, 0);
    regions_.remove(region.ref);
  }
}

}  // namespace
}  // namespace heddle::protocols
