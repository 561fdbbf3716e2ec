// SPDX-License-Identifier: BSD-3-Clause
// liveness_test.cpp - peers that are lost, that leave on one lane after the other, that fall
// silent; and the end of everything.
#include "protocols/liveness.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using test::ending;
using transport::op_kind;

class Liveness : public LoneReceivers {
 protected:
  static constexpr tag its_tag = 5;

  Liveness() {
    lone_.losses.also = &liveness_;
    for (const auto kind : {message_kind::ping, message_kind::pong})
      lone_.kinds[index_of(kind)] = &liveness_;
    handlers_[1].set(&handler_);
  }

  /// A request of the peer's that stands there.
  request& waits_at(stage at, peer& p) {
    request& r = begin(op_kind::put, {}, owner_);
    if (&p != &peer_) {
      peer_.requests.remove(r);
      r.with = &p;
      p.requests.push_back(r);
    }
    r.at = at;
    return r;
  }
  void receives_from(rank from, ending& end) {
    EXPECT_EQ(tagged_.receive(from, its_tag, {}, end), status::posted);
  }
  void call_is_announced(std::uint64_t bytes) {
    message m = rts(message_kind::call_rts, 0, bytes, 1);
    m.handler = 1;
    calls_.on_message(peer_, m);
  }

  liveness liveness_{where_, lone_.path, peers_, lone_.ops, tagged_, calls_, lone_.counters};
  test_owner owner_{lone_.path, lone_.ops, [](request&) { return status::busy_queue; }};
  const handler_entry handler_{[](void*, lane&, const call_message&) noexcept {}, nullptr};
  ending end_, other_end_;
};

// --- lost ------------------------------------------------------------------------------

TEST_F(Liveness, ALostPeerEndsAllThatWaitsForItOnAllItsLanes) {
  (void)waits_at(stage::reply, peer_);
  (void)waits_at(stage::reply, other_lane_);
  lone_.path.enqueue(waits_at(stage::in_hand, peer_));
  receives_from(1, end_);
  receives_from(any_source, other_end_);
  liveness_.lose(other_lane_, "it is gone");
  batch_.run();
  EXPECT_EQ(owner_.ends, std::vector(3, status::peer_lost));
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::peer_lost);
  EXPECT_EQ(other_end_.count, 0) << "somebody else may send";
  EXPECT_TRUE(peer_.lost);
  EXPECT_TRUE(other_lane_.lost);
  EXPECT_EQ(wire_.dropped, (std::vector<rank>{1, 1}));
  EXPECT_EQ(losses_.why(0, 1), "it is gone");
}

TEST_F(Liveness, ALostPeerLeavesToTheWireAndToOthersWhatTheyHave) {
  for (const stage at : {stage::wire, stage::in_hand, stage::striped}) {
    request& r = waits_at(at, peer_);
    peer_.lost = false;
    liveness_.lose(peer_, "");
    EXPECT_TRUE(owner_.ends.empty());
    EXPECT_EQ(r.at, at);
    lone_.ops.release(r);
  }
}

TEST_F(Liveness, APeerIsLostOnce) {
  int told = 0;
  losses_.set_handler(
      [](void* count, rank, std::string_view) noexcept { ++*static_cast<int*>(count); }, &told);
  liveness_.lose(peer_, "first");
  liveness_.lose(peer_, "second");
  liveness_.lose(other_lane_, "third");
  batch_.run();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(lone_.counters.lost_peers.get(), 1u);
  EXPECT_EQ(losses_.why(0, 1), "first");
}

TEST_F(Liveness, ALaneThatIsMetAfterTheLossIsLostAsWell) {
  liveness_.lose(other_lane_, "");
  EXPECT_TRUE(peers_.reach({1, 9})->lost);
}

TEST_F(Liveness, NothingMoreIsSaidToALostPeer) {
  wire_.room = 0;
  message ping;
  lone_.path.control(peer_, ping);
  EXPECT_EQ(peer_.control.size(), 1u);
  liveness_.lose(peer_, "");
  makes_room();
  lone_.path.control(peer_, ping);
  EXPECT_TRUE(wire_.messages.empty());
  EXPECT_TRUE(peer_.control.empty());
  EXPECT_FALSE(lone_.path.blocked());
}

TEST_F(Liveness, WhatALostPeerAnnouncedIsForgottenUnlessItIsOnItsWay) {
  wire_.answer = status::posted;
  tagged_.on_message(peer_, rts(message_kind::tag_rts, its_tag, 10'000, 1));
  tagged_.on_message(peer_, rts(message_kind::tag_rts, its_tag, 8, 2));
  ASSERT_EQ(wire_.under_way.size(), 1u) << "the small one is fetched ahead";
  liveness_.lose(peer_, "");
  EXPECT_EQ(tagged_.matching().messages.size(), 1u);
  transfers_.wire_ended(under_way(0), status::peer_lost);
  EXPECT_EQ(tagged_.matching().messages.size(), 0u);
}

TEST_F(Liveness, NoCallOfALostPeerIsBegunWhileAnotherEnds) {
  wire_.answer = status::posted;
  wire_.room = 0;
  constexpr std::uint64_t most = 60 << 20;
  for (int i = 0; i < 3; ++i) call_is_announced(most);  // the first waits for room on the wire
  liveness_.lose(peer_, "");
  wire_.room = SIZE_MAX;
  lone_.path.flush_blocked();
  EXPECT_TRUE(wire_.posted.empty());
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
  EXPECT_EQ(lone_.ops.room().taken(), 0u);
}

// --- left ------------------------------------------------------------------------------

TEST_F(Liveness, WhatCameFromOtherLanesOfALeavingPeerIsTakenUntilTheNextLook) {
  (void)waits_at(stage::reply, peer_);
  (void)waits_at(stage::reply, other_lane_);
  receives_from(1, end_);
  liveness_.left(peer_, *peer_.wire.to, status::peer_lost, "its process has ended");
  batch_.run();
  EXPECT_EQ(owner_.ends, std::vector{status::peer_lost});
  EXPECT_TRUE(peer_.lost);
  EXPECT_FALSE(other_lane_.lost);
  EXPECT_EQ(end_.count, 0);
  liveness_.look(1);
  batch_.run();
  EXPECT_EQ(owner_.ends.size(), 2u);
  EXPECT_TRUE(other_lane_.lost);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(losses_.why(0, 1), "its process has ended");
}

TEST_F(Liveness, APeerThatHasLeftOnAllItsLanesIsLostAtOnce) {
  receives_from(1, end_);
  liveness_.left(peer_, *peer_.wire.to, status::peer_lost, "first");
  liveness_.left(other_lane_, *other_lane_.wire.to, status::peer_lost, "second");
  batch_.run();
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(losses_.why(0, 1), "first");
  EXPECT_EQ(lone_.counters.lost_peers.get(), 1u);
}

TEST_F(Liveness, ARailThatCouldNotBeMadeIsDoneWithout) {
  transport::scripted_endpoint second(second_wire_);
  peer_.several = std::make_unique<several_rails>();
  peer_.several->rails = {peer_.wire, {&second, second_wire_.reach(1)}};
  peer_.several->plan = std::make_unique<earliest_end>(2);
  liveness_.left(peer_, *second_wire_.reach(1), status::unsupported, "no way");
  EXPECT_FALSE(peer_.lost);
  EXPECT_EQ(peer_.several->rails[1].by, nullptr);
  EXPECT_EQ(lone_.counters.lost_peers.get(), 0u);
}

// --- silence ---------------------------------------------------------------------------

class LivenessOfTheSilent : public Liveness {
 protected:
  static constexpr std::uint64_t ms = 1'000'000;
  /// Looks every tenth of the time-out, for so many tenths.
  void look(int tenths) {
    for (int i = 0; i < tenths; ++i) {
      now_ += config_.peer_timeout_ms * ms / 10;
      liveness_.look(now_);
      batch_.run();
    }
  }
  std::uint64_t now_ = 1;
};

TEST_F(LivenessOfTheSilent, APeerThatOwesSomethingIsAskedOnceAndThenGivenUp) {
  (void)waits_at(stage::reply, peer_);
  look(3);
  EXPECT_TRUE(wire_.messages.empty()) << "a third of the time-out has not passed";
  look(3);
  EXPECT_EQ(sent_kinds(), std::vector{message_kind::ping});
  look(3);
  EXPECT_EQ(wire_.messages.size(), 1u);
  EXPECT_TRUE(owner_.ends.empty());
  look(3);
  EXPECT_EQ(owner_.ends, std::vector{status::peer_lost});
  EXPECT_NE(losses_.why(0, 1).find("HEDDLE_PEER_TIMEOUT_MS"), std::string::npos);
}

TEST_F(LivenessOfTheSilent, ASignOfLifeOnAnyOfItsLanesIsEnough) {
  (void)waits_at(stage::reply, peer_);
  for (int i = 0; i < 10; ++i) {
    look(8);
    other_lane_.heard = true;
  }
  EXPECT_FALSE(peer_.lost);
  look(8);
  EXPECT_FALSE(peer_.lost) << "it was heard just now";
  look(4);
  EXPECT_TRUE(peer_.lost);
}

TEST_F(LivenessOfTheSilent, NothingIsExpectedOfAPeerThatOwesNothing) {
  look(30);
  EXPECT_FALSE(peer_.lost);
  EXPECT_TRUE(wire_.messages.empty());
  receives_from(any_source, end_);
  look(30);
  EXPECT_FALSE(peer_.lost);
}

TEST_F(LivenessOfTheSilent, SilenceBeforeSomethingWasDueDoesNotCount) {
  look(30);
  (void)waits_at(stage::reply, peer_);
  look(3);
  EXPECT_TRUE(wire_.messages.empty());
  EXPECT_FALSE(peer_.lost);
}

TEST_F(LivenessOfTheSilent, AReceiveThatNamesAPeerExpectsSomethingOfIt) {
  receives_from(1, end_);
  look(12);
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::peer_lost);
}

TEST_F(LivenessOfTheSilent, APeerThatHasNoSuchLaneIsExpectedToSayNothing) {
  peer_.wire.to->listens = false;
  receives_from(1, end_);
  look(12);
  EXPECT_EQ(end_.count, 0);
}

TEST_F(LivenessOfTheSilent, TimeInWhichNobodyLookedDoesNotCount) {
  (void)waits_at(stage::reply, peer_);
  look(1);
  now_ += 100 * config_.peer_timeout_ms * ms;  // as after a stop of this process
  look(2);
  EXPECT_FALSE(peer_.lost);
  look(12);
  EXPECT_TRUE(peer_.lost);
}

TEST_F(LivenessOfTheSilent, WhoIsAskedAnswers) {
  message ping;
  ping.kind = message_kind::ping;
  liveness_.on_message(peer_, ping);
  EXPECT_EQ(sent_kinds(), std::vector{message_kind::pong});
  ping.kind = message_kind::pong;
  liveness_.on_message(peer_, ping);
  EXPECT_EQ(wire_.messages.size(), 1u) << "or two would never stop";
}

// --- the end ---------------------------------------------------------------------------

TEST_F(Liveness, AnAbortEndsEverythingOnceAlsoWhatTheWireHas) {
  (void)waits_at(stage::wire, peer_);
  (void)waits_at(stage::reply, other_lane_);
  lone_.path.enqueue(waits_at(stage::in_hand, peer_));
  receives_from(1, end_);
  receives_from(any_source, other_end_);
  liveness_.abort(status::closed);
  batch_.run();
  EXPECT_EQ(owner_.ends, std::vector(3, status::closed));
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::closed);
  EXPECT_EQ(other_end_.count, 1);
  EXPECT_EQ(other_end_.code, status::closed);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
  EXPECT_EQ(lone_.counters.lost_peers.get(), 0u) << "nobody was lost";
}

TEST_F(Liveness, AnAbortSaysOfFlushesWhyAsWell) {
  request& r = waits_at(stage::wire, peer_);
  lone_.ops.count(r);
  command c;
  c.kind = command_kind::flush;
  c.done = end_;
  EXPECT_EQ(lone_.ops.flushing().wait(c, &peer_, owner_), status::posted);
  liveness_.abort(status::closed);
  batch_.run();
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::closed);
}

TEST_F(Liveness, AnAbortBeginsNoCallAnyMore) {
  wire_.answer = status::posted;
  for (int i = 0; i < 2; ++i) call_is_announced(60 << 20);
  ASSERT_EQ(wire_.posted.size(), 1u);
  liveness_.abort(status::closed);
  EXPECT_EQ(wire_.posted.size(), 1u);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
}

}  // namespace
}  // namespace heddle::protocols
