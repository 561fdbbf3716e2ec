// port_test.cpp - one peer's batch, backlog, credit and matching together, over a wire that takes,
// refuses and fails what the test tells it to.
#include "protocols/port.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/port_fixture.h"

namespace heddle::protocols {
namespace {

using test::ending;
using transport::event;
using transport::op;
using transport::op_kind;

constexpr std::size_t large = 10'000;  // more than a message of the scripted wire
constexpr tag small_tag = 5, large_tag = 7;

class Port : public PortFixture {
 protected:
  Port() {
    wire_.native = transport::only(op_kind::send) | transport::only(op_kind::get);
    config_.credit_bytes = 4096;
  }
  void progress() {
    port_->progress(batch_);
    batch_.run();
  }
  void arrives(const message& m, const std::vector<std::byte>& payload = {}) {
    arrives_from(0, m, payload);
  }
  void arrives_from(int lane, const message& m, const std::vector<std::byte>& payload = {}) {
    const prefix p(m);
    auto& bytes = arrived_.emplace_back(p.bytes().begin(), p.bytes().end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    wire_.events.push_back(
        {event::kind_t::arrived, status::done, wire_.reach(1, lane), nullptr, arrived_.back()});
    progress();
  }
  /// The peer announces a large message.
  void is_announced() {
    message m;
    m.kind = message_kind::tag_rts;
    m.word = large_tag;
    m.slot = 1;
    m.generation = 1;
    m.bytes = large;
    m.id = 1;
    arrives(m);
  }
  static command command_of(command_kind kind, tag t, std::span<std::byte> memory,
                            completion done) {
    command c;
    c.kind = kind;
    c.peer = 1;
    c.match = t;
    c.memory = memory;
    c.done = done;
    return c;
  }
  static command send(std::span<std::byte> data, completion done = {}) {
    return command_of(command_kind::send, small_tag, data, done);
  }
  command receive_large(completion done = {}) {
    return command_of(command_kind::recv, large_tag, into_, done);
  }
  /// The first data byte of each small message that has left, in this order.
  [[nodiscard]] std::vector<int> left() const {
    std::vector<int> bytes;
    for (const auto& m : wire_.messages) {
      message parsed;
      if (parse_message(m, parsed) && parsed.kind == message_kind::tag_eager)
        bytes.push_back(std::to_integer<int>(parsed.payload[0]));
    }
    return bytes;
  }
  [[nodiscard]] message_kind last_kind() const {
    message parsed;
    EXPECT_TRUE(parse_message(wire_.messages.back(), parsed));
    return parsed.kind;
  }

  std::deque<std::vector<std::byte>> arrived_;
  std::vector<std::byte> into_ = std::vector<std::byte>(large);
  std::array<std::byte, 1> one_{std::byte{1}}, two_{std::byte{2}}, three_{std::byte{3}};
};

TEST_F(Port, I5KeepsABatchedSendBeforeWhatQueuesBehindARefusedFetch) {
  port& p = start();
  is_announced();
  p.begin_batch();
  p.execute_accepted(send(one_), batch_);
  wire_.room = 0;
  p.execute_accepted(receive_large(), batch_);
  p.execute_accepted(send(two_), batch_);
  p.end_batch(batch_);
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
    p.begin_batch();
    wire_.room = room;
    p.execute_accepted(send(one_), batch_);
    p.execute_accepted(receive_large(), batch_);
    p.execute_accepted(send(two_), batch_);
    p.end_batch(batch_);
    (void)p.execute(send(three_), batch_);
    wire_.room = SIZE_MAX;
    progress();
    EXPECT_EQ(left(), (std::vector<int>{1, 2, 3})) << "after " << room;
  }
}

TEST_F(Port, AnswersASendWithWhatTheWireAnswers) {
  port& p = start();
  wire_.answer = status::unsupported;
  EXPECT_EQ(p.execute(send(one_), batch_), status::unsupported);
  wire_.answer = status::done;
  EXPECT_EQ(p.execute(send(two_), batch_), status::done);
}

TEST_F(Port, EndsABatchedSendWithWhatTheWireAnswers) {
  port& p = start();
  ending end;
  wire_.answer = status::unsupported;
  p.begin_batch();
  p.execute_accepted(send(one_, end), batch_);
  p.end_batch(batch_);
  batch_.run();
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::unsupported);
}

TEST_F(Port, EndsAQueuedSendWithWhatTheWireAnswers) {
  port& p = start();
  ending end;
  wire_.room = 0;
  EXPECT_EQ(p.execute(send(one_, end), batch_), status::posted);
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
  EXPECT_EQ(p.execute(send(into_), batch_), status::unsupported);
  EXPECT_TRUE(p.quiet());
}

// Or it would be spent, and a later message would have to be announced.
TEST_F(Port, TakesBackTheCreditOfASendThatFails) {
  config_.credit_bytes = 400;
  port& p = start();
  std::vector<std::byte> most(150);
  wire_.answer = status::no_memory;
  EXPECT_EQ(p.execute(send(most), batch_), status::no_memory);
  p.begin_batch();
  p.execute_accepted(send(most), batch_);
  p.end_batch(batch_);
  wire_.room = 0;
  EXPECT_EQ(p.execute(send(most), batch_), status::posted);
  wire_.room = SIZE_MAX;
  progress();
  wire_.answer = status::done;
  EXPECT_EQ(p.execute(send(most), batch_), status::done);
  EXPECT_EQ(last_kind(), message_kind::tag_eager);
}

TEST_F(Port, LosesAPeerThatItsOwnMessagesCannotBeSentTo) {
  port& p = start();
  ending end;
  EXPECT_EQ(p.execute(receive_large(end), batch_), status::posted);
  wire_.answer = status::no_memory;
  message ping;
  ping.kind = message_kind::ping;
  arrives(ping);
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_EQ(losses_.why(0, 1), "messages to it are refused here: no_memory");
  EXPECT_EQ(p.execute(send(one_), batch_), status::peer_lost);
}

TEST_F(Port, RevokesWhatItHasLentOnlyToAPeerThatHasNotReadIt) {
  port& p = start();
  ending read, given_up;
  EXPECT_EQ(p.execute(command_of(command_kind::send, large_tag, into_, read), batch_),
            status::posted);
  EXPECT_EQ(p.execute(command_of(command_kind::send, large_tag, into_, given_up), batch_),
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
  EXPECT_EQ(p.execute(receive_large(end), batch_), status::posted);
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
  (void)p.execute(command_of(command_kind::recv, small_tag, two_, first), batch_);
  (void)p.execute(command_of(command_kind::recv, large_tag, into_, named), batch_);
  (void)p.execute(command_of(command_kind::recv, small_tag, three_, second), batch_);
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
  EXPECT_EQ(p.execute(send(one_), batch_), status::peer_lost);
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
  EXPECT_EQ(p.execute(send(one_), batch_), status::peer_lost);
  EXPECT_EQ(wire_.dropped.size(), 3u);  // with that of our own number
}

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
    return port_->execute(command_of(command_kind::recv, small_tag, into, end), batch_);
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
  config_.unexpected_bytes = 2 * port::cost_of(1);
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
  EXPECT_EQ(port_->probe(1, any_tag, found), status::not_found);
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
    EXPECT_EQ(p.execute(receive_large(end), batch_), status::posted);
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

TEST_F(PortFetch, IsLostWithASenderThatHasTakenTheDataAway) {
  for (const status code : {status::withdrawn, status::denied, status::out_of_bounds}) {
    ending end;
    fetch(end);
    ends(code);
    EXPECT_EQ(end.count, 1);
    EXPECT_EQ(end.code, status::peer_lost) << name_of(code);
  }
}

TEST_F(Port, TellsOfAPeerThatAnswersNothing) {
  port& p = start();
  ending end;
  EXPECT_EQ(p.execute(receive_large(end), batch_), status::posted);
  const std::uint64_t ms = 1'000'000;
  p.maintain(1 * ms, batch_);
  p.maintain((1 + config_.peer_timeout_ms) * ms, batch_);
  batch_.run();
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_EQ(losses_.why(0, 1),
            "it has said nothing for 30 s, although it was asked (HEDDLE_PEER_TIMEOUT_MS)");
}

}  // namespace
}  // namespace heddle::protocols
