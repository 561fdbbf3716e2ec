// SPDX-License-Identifier: BSD-3-Clause
// eager_test.cpp - messages that leave whole, that wait, and that are announced instead.
#include "protocols/eager.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using test::ending;

class Eager : public LoneMessages {
 protected:
  static constexpr std::uint64_t an_hour_ns = 3'600'000'000'000;
  static constexpr std::uint64_t limit = 1600, portion = 100;

  Eager() { peer_.credit.open(limit, portion); }
  status send(tag t, std::span<const std::byte> data, completion done = {}) {
    return eager_.begin(send_command(1, t, data, done));
  }
  bool send_now(std::span<const std::byte> data) {
    return eager_.send_now(1, head_of_tagged(1), {}, data, credit::cost_of(data.size()));
  }
  void gives_credit(std::uint64_t bytes) { ASSERT_TRUE(peer_.credit.add(bytes, 1)); }
  /// The tags of what has left, in this order.
  [[nodiscard]] std::vector<tag> tags() const {
    std::vector<tag> all;
    for (const message& m : sent()) all.push_back(m.word);
    return all;
  }

  flow patient_{lone_.path, an_hour_ns};
  eager eager_{lone_.path, peers_, lone_.ops, rendezvous_, patient_, lone_.counters};
  const std::vector<std::byte> small_ = std::vector<std::byte>(16, std::byte{7});
  const std::uint64_t cost_ = credit::cost_of(small_.size());
  ending end_;
};

TEST_F(Eager, SendsWholeWhatIsSmall) {
  EXPECT_EQ(send(5, small_), status::done);
  const message m = last();
  EXPECT_EQ(m.kind, message_kind::tag_eager);
  EXPECT_EQ(m.word, 5u);
  EXPECT_TRUE(std::ranges::equal(m.payload, small_));
  EXPECT_EQ(peer_.credit.left(), limit - cost_);
  EXPECT_EQ(peer_.sent_messages, 1u);
  EXPECT_EQ(peer_.sent_bytes, small_.size());
  EXPECT_EQ(lone_.ops.room().taken(), 0u) << "it took no record";
}

TEST_F(Eager, AnnouncesWhatIsLarge) {
  peer_.eager_bytes = small_.size() - 1;
  EXPECT_EQ(send(5, small_, end_), status::posted);
  EXPECT_EQ(last().kind, message_kind::tag_rts);
  EXPECT_EQ(peer_.credit.left(), limit);
  rendezvous_.on_message(peer_, fin(last().id));
  batch_.run();
  EXPECT_EQ(end_.count, 1);
}

TEST_F(Eager, TakesNoCreditForACall) {
  const std::array header{std::byte{3}};
  EXPECT_EQ(eager_.begin(call_command(1, 9, header, small_, {})), status::done);
  const message m = last();
  EXPECT_EQ(m.kind, message_kind::call_eager);
  EXPECT_EQ(m.handler, 9);
  EXPECT_TRUE(std::ranges::equal(m.header, header));
  EXPECT_TRUE(std::ranges::equal(m.payload, small_));
  EXPECT_EQ(peer_.credit.left(), limit);
}

TEST_F(Eager, SaysWhyThereIsNobodyToSendTo) {
  EXPECT_EQ(eager_.begin(send_command(2, 5, small_, {})), status::invalid);
  peer_.wire.to->listens = false;
  EXPECT_EQ(send(5, small_), status::invalid);
  peer_.lost = true;
  EXPECT_EQ(send(5, small_), status::peer_lost);
  wire_.no_memory = true;
  EXPECT_EQ(eager_.begin(send_command({1, 5}, 5, small_, {})), status::no_memory);
  EXPECT_TRUE(wire_.messages.empty());
}

TEST_F(Eager, RefusesWhatWouldHaveToWaitWhenThereAreEnough) {
  while (!lone_.ops.room().full()) lone_.ops.room().take();
  EXPECT_EQ(send(5, small_), status::done) << "it does not wait";
  wire_.room = 0;
  EXPECT_EQ(send(6, small_), status::busy_records);
  EXPECT_FALSE(lone_.path.blocked());
  EXPECT_EQ(peer_.credit.left(), limit - cost_);
}

TEST_F(Eager, KeepsItsOrderWhenTheWireHasNoRoom) {
  wire_.room = 0;
  EXPECT_EQ(send(1, small_, end_), status::posted);
  wire_.room = SIZE_MAX;
  EXPECT_EQ(send(2, small_, end_), status::posted);
  EXPECT_TRUE(wire_.messages.empty());
  makes_room();
  EXPECT_EQ(tags(), (std::vector<tag>{1, 2}));
  batch_.run();
  EXPECT_EQ(end_.count, 2);
  EXPECT_EQ(end_.code, status::done);
  EXPECT_EQ(peer_.sent_messages, 2u);
  EXPECT_EQ(peer_.credit.left(), limit - 2 * cost_);
}

TEST_F(Eager, LetsAMessageWithoutCreditWaitAndSendsItWholeWhenSomeComes) {
  peer_.credit.take(limit);
  EXPECT_EQ(send(5, small_, end_), status::posted);
  lone_.path.flush_blocked();
  EXPECT_TRUE(wire_.messages.empty());
  gives_credit(cost_);
  lone_.path.flush_blocked();
  EXPECT_EQ(last().kind, message_kind::tag_eager);
  EXPECT_EQ(peer_.credit.left(), 0u);
  batch_.run();
  EXPECT_EQ(end_.count, 1);
}

TEST_F(Eager, AnnouncesWhatHasWaitedForCreditInVain) {
  peer_.credit.take(limit);
  EXPECT_EQ(send(5, small_, end_), status::posted);
  lone_.path.flush_for_rest();
  EXPECT_EQ(last().kind, message_kind::tag_rts);
  EXPECT_EQ(last().bytes, small_.size());
  rendezvous_.on_message(peer_, fin(last().id));
  batch_.run();
  EXPECT_EQ(end_.code, status::done);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(peer_.credit.left(), 0u) << "it took none";
}

TEST_F(Eager, TakesBackTheCreditOfWhatTheWireRefuses) {
  wire_.answer = status::no_memory;
  EXPECT_EQ(send(1, small_), status::no_memory);
  EXPECT_EQ(peer_.credit.left(), limit);
  wire_.room = 0;
  EXPECT_EQ(send(2, small_, end_), status::posted);
  EXPECT_EQ(peer_.credit.left(), limit) << "it has not left";
  makes_room();
  batch_.run();
  EXPECT_EQ(end_.code, status::no_memory);
  EXPECT_EQ(peer_.credit.left(), limit);
  EXPECT_EQ(peer_.sent_messages, 0u);
}

// The one that fills it is refused while it is being posted.
TEST_F(Eager, TakesBackTheCreditOfAFullBatchThatTheWireRefuses) {
  constexpr int most = 100;
  peer_.credit.open(most * cost_, cost_);
  wire_.answer = status::no_memory;
  lone_.path.batch().begin();
  int sent = 0;
  while (end_.count == 0 && sent < most) {
    EXPECT_EQ(send(1, small_, end_), status::posted);
    ++sent;
    batch_.run();
  }
  EXPECT_EQ(end_.count, sent);
  EXPECT_EQ(end_.code, status::no_memory);
  EXPECT_EQ(peer_.credit.left(), peer_.credit.limit());
  lone_.path.batch().end();
}

TEST_F(Eager, KeepsBackInABatchWithItsCredit) {
  lone_.path.batch().begin();
  EXPECT_EQ(send(1, small_, end_), status::posted);
  EXPECT_TRUE(wire_.messages.empty());
  EXPECT_EQ(peer_.credit.left(), limit - cost_) << "or those behind it could not leave";
  lone_.path.batch().end();
  batch_.run();
  EXPECT_EQ(tags(), std::vector<tag>{1});
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(peer_.credit.left(), limit - cost_);
}

TEST_F(Eager, SendsAtOnceWhatCanLeave) {
  EXPECT_TRUE(send_now(small_));
  EXPECT_EQ(last().kind, message_kind::tag_eager);
  EXPECT_EQ(peer_.credit.left(), limit - cost_);
  EXPECT_EQ(peer_.sent_messages, 1u);
}

TEST_F(Eager, DoesNothingAtOnceForWhatCannot) {
  const auto nothing_happens = [&](const char* why) {
    EXPECT_FALSE(send_now(small_)) << why;
    EXPECT_TRUE(wire_.messages.empty()) << why;
    EXPECT_EQ(peer_.sent_messages, 0u) << why;
  };
  wire_.room = 0;
  nothing_happens("no room");
  wire_.room = SIZE_MAX;
  peer_.blocked = true;
  nothing_happens("something waits before it");
  peer_.blocked = false;
  peer_.lost = true;
  nothing_happens("lost");
  peer_.lost = false;
  const std::size_t whole = std::exchange(peer_.eager_bytes, small_.size() - 1);
  nothing_happens("too large");
  peer_.eager_bytes = whole;
  EXPECT_EQ(peer_.credit.left(), limit);
  peer_.credit.take(limit - cost_ + 1);
  nothing_happens("no credit");
}

}  // namespace
}  // namespace heddle::protocols
