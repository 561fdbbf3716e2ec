// SPDX-License-Identifier: BSD-3-Clause
// port_test.cpp - one peer's batch, backlog, credit and matching together, over a wire that takes,
// refuses and fails what the test tells it to.
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "base/clock.h"
#include "support/message_port_fixture.h"

namespace heddle::protocols {
namespace {

using test::ending;
using transport::event;

TEST_F(Port, I5KeepsABatchedSendBeforeWhatQueuesBehindARefusedFetch) {
  port& p = start();
  is_announced();
  p.dispatch().begin_batch();
  p.dispatch().execute_accepted(send(one_), batch_);
  wire_.room = 0;
  p.dispatch().execute_accepted(receive_large(), batch_);
  p.dispatch().execute_accepted(send(two_), batch_);
  p.dispatch().end_batch(batch_);
  wire_.room = SIZE_MAX;
  progress();
  EXPECT_EQ(left(), (std::vector<int>{1, 2}));
}

// Whatever number of operations is taken before the wire refuses.
TEST_F(Port, I5KeepsTheOrderWhereverTheWireRefuses) {
  for (std::size_t room = 0; room <= 5; ++room) {
    wire_.messages.clear();
    wire_.room = SIZE_MAX;
    port& p = start();
    is_announced();
    p.dispatch().begin_batch();
    wire_.room = room;
    p.dispatch().execute_accepted(send(one_), batch_);
    p.dispatch().execute_accepted(receive_large(), batch_);
    p.dispatch().execute_accepted(send(two_), batch_);
    p.dispatch().end_batch(batch_);
    (void)p.dispatch().execute(send(three_), batch_);
    wire_.room = SIZE_MAX;
    progress();
    EXPECT_EQ(left(), (std::vector<int>{1, 2, 3})) << "after " << room;
  }
}

TEST_F(Port, AnswersASendWithWhatTheWireAnswers) {
  port& p = start();
  wire_.answer = status::unsupported;
  EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::unsupported);
  wire_.answer = status::done;
  EXPECT_EQ(p.dispatch().execute(send(two_), batch_), status::done);
}

TEST_F(Port, TellsWhoWaitsForRoomThatATakenBackReceiveLeavesSome) {
  config_.records = 1;
  port& p = start();
  ending taken_back, room;
  EXPECT_EQ(p.dispatch().execute(receive_large(taken_back), batch_), status::posted);
  command ready;
  ready.kind = command_kind::when_ready;
  ready.done = room;
  EXPECT_EQ(p.dispatch().execute(ready, batch_), status::posted);
  batch_.run();
  EXPECT_EQ(room.count, 0);
  EXPECT_EQ(p.dispatch().cancel(taken_back, batch_), status::done);
  batch_.run();
  EXPECT_EQ(taken_back.code, status::canceled);
  EXPECT_EQ(room.count, 1);
}

TEST_F(Port, SaysWhetherThereIsNoMemoryForAPeerOrNoSuchPeer) {
  port& p = start();
  wire_.no_memory = true;
  EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::no_memory);
  const auto to = [&](destination whom) { return send_command(whom, 1, {}, {}); };
  for (const destination nobody : {destination(2), destination(-1), destination(1, max_lanes)})
    EXPECT_EQ(p.dispatch().execute(to(nobody), batch_), status::invalid);
  wire_.no_memory = false;
  EXPECT_EQ(p.dispatch().execute(send(two_), batch_), status::done);
}

TEST_F(Port, EndsABatchedSendWithWhatTheWireAnswers) {
  port& p = start();
  ending end;
  wire_.answer = status::unsupported;
  p.dispatch().begin_batch();
  p.dispatch().execute_accepted(send(one_, end), batch_);
  p.dispatch().end_batch(batch_);
  batch_.run();
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::unsupported);
}

TEST_F(Port, EndsAQueuedSendWithWhatTheWireAnswers) {
  port& p = start();
  ending end;
  wire_.room = 0;
  EXPECT_EQ(p.dispatch().execute(send(one_, end), batch_), status::posted);
  wire_.room = SIZE_MAX;
  wire_.answer = status::no_memory;
  progress();
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::no_memory);
  EXPECT_TRUE(p.quiet());
}

TEST_F(Port, EndsAnAnnouncementThatCannotBeSentWithWhatTheWireAnswers) {
  port& p = start();
  wire_.answer = status::unsupported;
  EXPECT_EQ(p.dispatch().execute(send(into_), batch_), status::unsupported);
  EXPECT_TRUE(p.quiet());
}

// Or it would be spent, and a later message would have to be announced.
TEST_F(Port, TakesBackTheCreditOfASendThatFails) {
  config_.credit_bytes = 400;
  port& p = start();
  std::vector<std::byte> most(150);
  wire_.answer = status::no_memory;
  EXPECT_EQ(p.dispatch().execute(send(most), batch_), status::no_memory);
  p.dispatch().begin_batch();
  p.dispatch().execute_accepted(send(most), batch_);
  p.dispatch().end_batch(batch_);
  wire_.room = 0;
  EXPECT_EQ(p.dispatch().execute(send(most), batch_), status::posted);
  wire_.room = SIZE_MAX;
  progress();
  wire_.answer = status::done;
  EXPECT_EQ(p.dispatch().execute(send(most), batch_), status::done);
  EXPECT_EQ(last_kind(), message_kind::tag_eager);
}

constexpr std::uint64_t hour_us = 3'600'000'000;

/// A port that may send one small message before it hears of its receiver, and has.
struct PortWithoutCredit : Port {
  port& start_and_use_it_up(std::uint64_t spin_us) {
    config_.credit_bytes = cost_ + cost_ / 8;
    config_.spin_us = spin_us;
    port& p = start();
    EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::done);
    return p;
  }
  void gives_credit() { gives_credit(cost_); }
  void gives_credit(std::uint64_t bytes) {
    message m;
    m.kind = message_kind::credit;
    m.word = bytes;
    arrives(m);
  }
  const std::uint64_t cost_ = credit::cost_of(one_.size());
};

TEST_F(PortWithoutCredit, LetsAMessageWaitAndSendsItWholeWhenCreditComes) {
  port& p = start_and_use_it_up(hour_us);
  ending end;
  EXPECT_EQ(p.dispatch().execute(send(one_, end), batch_), status::posted);
  progress();
  EXPECT_EQ(wire_.messages.size(), 1u);
  gives_credit();
  EXPECT_EQ(wire_.messages.size(), 2u);
  EXPECT_EQ(last_kind(), message_kind::tag_eager);
  EXPECT_EQ(end.code, status::done);
  EXPECT_TRUE(p.quiet());
}

TEST_F(PortWithoutCredit, AnnouncesWhatWaitsBeforeNobodyLooksAnyMore) {
  config_.records = 2;
  port& p = start_and_use_it_up(hour_us);
  ending room, called;
  EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::posted);
  EXPECT_EQ(p.dispatch().execute(call_command(1, handler_id{1}, {}, one_, called), batch_),
            status::posted);
  command ready;
  ready.kind = command_kind::when_ready;
  ready.done = room;
  EXPECT_EQ(p.dispatch().execute(ready, batch_), status::posted);
  progress();
  EXPECT_EQ(last_kind(), message_kind::tag_eager);
  EXPECT_EQ(room.count, 0);
  EXPECT_TRUE(p.arm());
  batch_.run();
  EXPECT_EQ(last_kind(), message_kind::call_eager);  // behind the announcement
  EXPECT_EQ(wire_.messages.size(), 3u);
  EXPECT_EQ(called.code, status::done);
  EXPECT_EQ(room.count, 1);
}

TEST_F(PortWithoutCredit, LetsAMessageWaitThroughARestForAPeerThatHasGivenSomeLately) {
  port& p = start_and_use_it_up(hour_us);
  gives_credit();
  ending end;
  EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::done);
  EXPECT_EQ(p.dispatch().execute(send(one_, end), batch_), status::posted);
  EXPECT_TRUE(p.arm());
  EXPECT_EQ(wire_.messages.size(), 2u);
  EXPECT_TRUE(p.awaits_credit());
  gives_credit();
  EXPECT_EQ(wire_.messages.size(), 3u);
  EXPECT_EQ(last_kind(), message_kind::tag_eager);
  EXPECT_EQ(end.code, status::done);
  EXPECT_TRUE(p.arm());
  EXPECT_TRUE(p.quiet());
}

TEST_F(PortWithoutCredit, LetsAMessageWaitForAPeerThatTellsThatItReceives) {
  port& p = start_and_use_it_up(hour_us);
  ending end;
  EXPECT_EQ(p.dispatch().execute(send(one_, end), batch_), status::posted);
  gives_credit(0);
  EXPECT_TRUE(p.arm());
  EXPECT_EQ(wire_.messages.size(), 1u);
  gives_credit();
  EXPECT_EQ(last_kind(), message_kind::tag_eager);
  EXPECT_EQ(end.code, status::done);
}

TEST_F(PortWithoutCredit, AnnouncesWhatHasWaitedForTooLongWhenItIsLookedAfter) {
  constexpr std::uint64_t moment_us = 200;
  port& p = start_and_use_it_up(moment_us);
  EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::posted);
  usleep(2 * moment_us);
  p.maintain(now_ns(), batch_);
  EXPECT_EQ(last_kind(), message_kind::tag_rts);
  EXPECT_FALSE(p.awaits_credit());
}

TEST_F(PortWithoutCredit, AnnouncesAtOnceWhereNobodyWaitsAwake) {
  for (const char* mode : {"adaptive", "inline"}) {
    config_.progress = mode;
    port& p = start_and_use_it_up(config_.progress == "inline" ? hour_us : 0);
    EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::posted);
    EXPECT_EQ(last_kind(), message_kind::tag_rts) << mode;
  }
}

TEST_F(PortWithoutCredit, AnnouncesAtOnceWhatUsesMoreThanIsSureToComeBack) {
  port& p = start_and_use_it_up(hour_us);
  std::vector<std::byte> most(20);
  EXPECT_EQ(p.dispatch().execute(send(most), batch_), status::posted);
  EXPECT_EQ(last_kind(), message_kind::tag_rts);
}

TEST_F(PortWithoutCredit, SendsCallsAllTheSame) {
  port& p = start_and_use_it_up(hour_us);
  EXPECT_EQ(p.dispatch().execute(call_command(1, handler_id{1}, {}, one_, {}), batch_),
            status::done);
}

TEST_F(Port, LosesAPeerThatItsOwnMessagesCannotBeSentTo) {
  port& p = start();
  ending end;
  EXPECT_EQ(p.dispatch().execute(receive_large(end), batch_), status::posted);
  wire_.answer = status::no_memory;
  message ping;
  ping.kind = message_kind::ping;
  arrives(ping);
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_EQ(losses_.why(0, 1), "messages to it are refused here: no_memory");
  EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::peer_lost);
}

TEST_F(Port, RevokesWhatItHasLentOnlyToAPeerThatHasNotReadIt) {
  port& p = start();
  ending read, given_up;
  EXPECT_EQ(p.dispatch().execute(command_of(command_kind::send, large_tag, into_, read), batch_),
            status::posted);
  EXPECT_EQ(
      p.dispatch().execute(command_of(command_kind::send, large_tag, into_, given_up), batch_),
      status::posted);
  message fin;
  fin.kind = message_kind::fin;
  message rts;
  ASSERT_TRUE(parse_message(wire_.messages.front(), rts));
  fin.word = rts.id;
  arrives(fin);
  EXPECT_EQ(read.code, status::done);
  EXPECT_TRUE(wire_.revoked.empty());
  wire_.events.push_back(
      {event::kind_t::peer_lost, status::peer_lost, wire_.reach(1), nullptr, {}});
  progress();
  EXPECT_EQ(given_up.code, status::peer_lost);
  ASSERT_EQ(wire_.revoked.size(), 1u);
  EXPECT_EQ(wire_.revoked[0].data(), into_.data());
}

TEST_F(Port, TellsWhyTheWireHasLostAPeer) {
  port& p = start();
  ending end;
  EXPECT_EQ(p.dispatch().execute(receive_large(end), batch_), status::posted);
  const auto words = transport::bytes_of("its process 12 has ended");
  wire_.events.push_back(
      {event::kind_t::peer_lost, status::peer_lost, wire_.reach(1), nullptr, words});
  progress();
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_EQ(losses_.why(0, 1), "its process 12 has ended");
}

TEST_F(Port, TakesWhatCameFromOtherLanesOfAPeerBeforeItIsLostOnThemToo) {
  port& p = start();
  message m;
  m.kind = message_kind::tag_eager;
  m.word = small_tag;
  arrives_from(4, m, {std::byte{1}});
  ending first, second, named;
  (void)p.dispatch().execute(command_of(command_kind::recv, small_tag, two_, first), batch_);
  (void)p.dispatch().execute(command_of(command_kind::recv, large_tag, into_, named), batch_);
  (void)p.dispatch().execute(command_of(command_kind::recv, small_tag, three_, second), batch_);
  wire_.events.push_back(
      {event::kind_t::peer_lost, status::peer_lost, wire_.reach(1), nullptr, {}});
  arrives_from(4, m, {std::byte{2}});
  EXPECT_EQ(first.code, status::done);
  EXPECT_EQ(second.code, status::done);
  EXPECT_EQ(named.count, 0);
  p.maintain(1, batch_);
  batch_.run();
  EXPECT_EQ(named.code, status::peer_lost);
  EXPECT_EQ(wire_.dropped, (std::vector<rank>{1, 1}));
  EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::peer_lost);
}

TEST_F(Port, IsLostWholeWhenItBreaksTheRulesOnOneLane) {
  port& p = start();
  message m;
  m.kind = message_kind::tag_eager;
  m.word = small_tag;
  arrives_from(4, m, {std::byte{1}});
  message bad;
  bad.kind = message_kind::credit;
  bad.word = 1;  // nothing was owed
  arrives_from(7, bad);
  arrives_from(4, m, {std::byte{2}});
  EXPECT_EQ(p.dispatch().execute(send(one_), batch_), status::peer_lost);
  EXPECT_EQ(wire_.dropped.size(), 3u);  // with that of our own number
}

constexpr std::uint64_t ms = 1'000'000;

/// Looks every second, after `begin_ms`, for as long as it takes to give up a silent peer.
void look_in_vain(port& p, const settings& config, std::uint64_t begin_ms, delivery_batch& out) {
  for (std::uint64_t at = 0; at <= config.peer_timeout_ms; at += 1000)
    p.maintain((begin_ms + at) * ms, out);
}

TEST_F(Port, TellsOfAPeerThatAnswersNothing) {
  port& p = start();
  ending end;
  EXPECT_EQ(p.dispatch().execute(receive_large(end), batch_), status::posted);
  look_in_vain(p, config_, 1, batch_);
  batch_.run();
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_EQ(losses_.why(0, 1),
            "it has said nothing for 30 s, although it was asked (HEDDLE_PEER_TIMEOUT_MS)");
}

TEST_F(Port, TakesNoPeerForSilentWhileItDidNotLook) {
  port& p = start();
  ending end;
  EXPECT_EQ(p.dispatch().execute(receive_large(end), batch_), status::posted);
  p.maintain(1 * ms, batch_);
  p.maintain((1 + 3 * config_.peer_timeout_ms) * ms, batch_);  // as after a stop of this process
  batch_.run();
  EXPECT_EQ(end.count, 0);
  look_in_vain(p, config_, 2 + 3 * config_.peer_timeout_ms, batch_);
  batch_.run();
  EXPECT_EQ(end.code, status::peer_lost);
}

TEST_F(Port, AnotherLaneOfThePeerThatWasHeardOnceIsNoSignOfLifeForEver) {
  port& p = start();
  ending end;
  EXPECT_EQ(p.dispatch().execute(receive_large(end), batch_), status::posted);
  message m;
  m.kind = message_kind::tag_eager;
  m.word = small_tag;
  arrives_from(5, m, {std::byte{1}});
  p.maintain(1 * ms, batch_);
  EXPECT_EQ(end.count, 0);
  look_in_vain(p, config_, 2, batch_);
  look_in_vain(p, config_, 3 + config_.peer_timeout_ms, batch_);
  batch_.run();
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::peer_lost);
}

}  // namespace
}  // namespace heddle::protocols
