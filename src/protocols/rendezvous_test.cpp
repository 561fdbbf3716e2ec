// SPDX-License-Identifier: BSD-3-Clause
// rendezvous_test.cpp - announcements and FINs of large messages, on both sides.
#include "protocols/rendezvous.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using test::ending;

/// The sender.
class Rendezvous : public LoneMessages {
 protected:
  static constexpr tag its_tag = 7;
  status send(completion done = {}) {
    return rendezvous_.send(peer_, send_command(1, its_tag, data_, done));
  }
  /// Announced now, as the message says that has left.
  message announce(completion done = {}) {
    EXPECT_EQ(send(done), status::posted);
    return last();
  }
  void receive(const message& m) { receive_from(peer_, m); }
  void receive_from(peer& p, const message& m) {
    rendezvous_.on_message(p, m);
    batch_.run();
  }
  [[nodiscard]] status readable(const message& m) {
    return regions_.look_up({m.slot, m.generation}, m.offset, m.bytes, rights::read).code();
  }

  std::vector<std::byte> data_ = std::vector<std::byte>(10'000);
  ending end_;
};

TEST_F(Rendezvous, SaysWhereTheDataLiesAndLendsItUntilTheFin) {
  const message m = announce(end_);
  EXPECT_EQ(m.kind, message_kind::tag_rts);
  EXPECT_EQ(m.word, its_tag);
  EXPECT_EQ(m.bytes, data_.size());
  EXPECT_EQ(regions_.look_up({m.slot, m.generation}, m.offset, 1, rights::read).at(), data_.data());
  EXPECT_EQ(wire_.exposed, 1);
  batch_.run();
  EXPECT_EQ(end_.count, 0);
  receive(fin(m.id));
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::done);
  EXPECT_EQ(wire_.exposed, 0);
  EXPECT_TRUE(wire_.revoked.empty());
  EXPECT_EQ(readable(m), status::withdrawn);
}

TEST_F(Rendezvous, SaysOfACallWhichHandlerItIsFor) {
  const std::array header{std::byte{3}, std::byte{4}};
  EXPECT_EQ(rendezvous_.send(peer_, call_command(1, 9, header, data_, {})), status::posted);
  const message m = last();
  EXPECT_EQ(m.kind, message_kind::call_rts);
  EXPECT_EQ(m.handler, 9);
  EXPECT_TRUE(std::ranges::equal(m.header, header));
}

TEST_F(Rendezvous, EndsARequestOnceWhateverComesTwice) {
  const message m = announce(end_);
  receive(fin(m.id));
  receive(fin(m.id, status::no_memory));
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.code, status::done);
  EXPECT_EQ(lone_.ops.room().taken(), 0u);
}

TEST_F(Rendezvous, TakesNoFinOfAPeerThatDoesNotOweIt) {
  const message m = announce(end_);
  receive_from(other_lane_, fin(m.id));
  EXPECT_EQ(end_.count, 0);
  EXPECT_EQ(readable(m), status::done) << "the one it was announced to reads it";
}

TEST_F(Rendezvous, TakesNoFinForARequestThatIsNotItsOwn) {
  test_owner somebody(lone_.path, lone_.ops, {});
  request& r = begin(transport::op_kind::put, data_, somebody);
  r.at = stage::reply;
  receive(fin(r.id()));
  EXPECT_TRUE(somebody.ends.empty());
  EXPECT_EQ(r.at, stage::reply);
}

TEST_F(Rendezvous, TakesNoFinForWhatItHasNotAnnouncedYet) {
  wire_.room = 0;
  EXPECT_EQ(send(end_), status::posted);
  request& r = *peer_.requests.front();
  receive(fin(r.id()));
  EXPECT_EQ(end_.count, 0);
  makes_room();
  EXPECT_EQ(last().id, r.id());
  receive(fin(r.id()));
  EXPECT_EQ(end_.count, 1);
}

TEST_F(Rendezvous, AnnouncesOnceThoughItWaitedForRoom) {
  wire_.room = 0;
  EXPECT_EQ(send(), status::posted);
  lone_.path.flush_blocked();
  makes_room();
  lone_.path.flush_blocked();
  EXPECT_EQ(sent_kinds(), std::vector{message_kind::tag_rts});
  EXPECT_EQ(wire_.exposed, 1);
  EXPECT_EQ(lone_.counters.rendezvous.get(), 1u);
}

TEST_F(Rendezvous, WaitsWhileThereIsNoRegionLeft) {
  memory::region_ref any;
  for (memory::local_region r; (r = regions_.add(data_, rights::none)).ref.generation != 0;)
    any = r.ref;
  EXPECT_EQ(send(end_), status::posted);
  EXPECT_TRUE(wire_.messages.empty());
  regions_.remove(any);
  lone_.path.flush_blocked();
  receive(fin(last().id));
  EXPECT_EQ(end_.code, status::done);
  EXPECT_EQ(end_.count, 1);
}

TEST_F(Rendezvous, LendsNothingWhereItsAnnouncementCannotBeSent) {
  wire_.answer = status::unsupported;
  EXPECT_EQ(send(end_), status::unsupported);
  EXPECT_EQ(wire_.exposed, 0);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
  batch_.run();
  EXPECT_EQ(end_.count, 0) << "the answer has told it";
}

TEST_F(Rendezvous, LendsNothingForAMessageWithoutData) {
  data_.clear();
  const message m = announce(end_);
  EXPECT_EQ(m.bytes, 0u);
  EXPECT_EQ(wire_.exposed, 0);
  receive(fin(m.id));
  EXPECT_EQ(end_.code, status::done);
}

TEST_F(Rendezvous, NamesALastingRegionThatPeersMayReadAndLeavesItThere) {
  std::vector<std::byte> memory(data_.size() + 8);
  const auto region = regions_.add(memory, rights::read, {.memfd = 3, .lasts = true});
  EXPECT_EQ(rendezvous_.send(peer_, send_command(1, its_tag, std::span(memory).subspan(8), {})),
            status::posted);
  const message m = last();
  EXPECT_EQ((memory::region_ref{m.slot, m.generation}), region.ref);
  EXPECT_EQ(m.offset, 8u);
  EXPECT_EQ(m.flag, 1) << "it may be mapped";
  EXPECT_EQ(wire_.exposed, 0);
  receive(fin(m.id));
  EXPECT_EQ(readable(m), status::done);
}

TEST_F(Rendezvous, TellsWhatTheReceiverSaysAndRevokesWhatItHasNotRead) {
  const message m = announce(end_);
  receive(fin(m.id, status::no_memory));
  EXPECT_EQ(end_.code, status::no_memory);
  ASSERT_EQ(wire_.revoked.size(), 1u);
  EXPECT_EQ(wire_.revoked[0].data(), data_.data());
  EXPECT_EQ(wire_.exposed, 0);
}

TEST_F(Rendezvous, RevokesWhatAPeerThatIsLostMayStillRead) {
  const message m = announce(end_);
  request& r = *peer_.requests.front();
  take_in_hand(r);
  rendezvous_.ended(r, status::peer_lost);
  batch_.run();
  EXPECT_EQ(end_.code, status::peer_lost);
  EXPECT_EQ(wire_.revoked.size(), 1u);
  EXPECT_EQ(readable(m), status::withdrawn);
}

/// The receiver: a fetch that somebody owns.
class RendezvousFetch : public Rendezvous {
 protected:
  RendezvousFetch() { wire_.answer = status::posted; }
  static constexpr std::uint64_t sender_id = 77;
  request& fetch(std::span<std::byte> into) {
    request& r = lone_.ops.begin(&peer_, receive_command(1, its_tag, into, {}), owner_);
    const announcement a{.ref = {4, 2}, .offset = 16, .bytes = data_.size(), .id = sender_id};
    rendezvous_.fetch(r, a, into);
    return r;
  }
  test_owner owner_{lone_.path, lone_.ops,
                    [this](request& r) { return rendezvous_.start_fetch(r); }};
};

TEST_F(RendezvousFetch, ReadsAsMuchAsFits) {
  (void)fetch(std::span(data_).first(100));
  ASSERT_EQ(wire_.posted.size(), 1u);
  const transport::op& o = wire_.posted[0];
  EXPECT_EQ(o.kind, transport::op_kind::get);
  EXPECT_EQ(o.region, (memory::region_ref{4, 2}));
  EXPECT_EQ(o.offset, 16u);
  EXPECT_EQ(o.memory.size(), 100u);
  EXPECT_TRUE(owner_.ends.empty());
}

TEST_F(RendezvousFetch, EndsAtOnceWhereThereIsNoPlaceForAnything) {
  (void)fetch({});
  EXPECT_EQ(owner_.ends, std::vector{status::done});
  EXPECT_TRUE(wire_.posted.empty());
}

TEST_F(RendezvousFetch, TellsTheSenderHowItEnded) {
  request& r = fetch(data_);
  for (const status code : {status::done, status::no_memory, status::peer_lost}) {
    EXPECT_EQ(rendezvous_.end_fetch(r, code), code);
    EXPECT_EQ(last().kind, message_kind::fin);
    EXPECT_EQ(last().word, sender_id);
    EXPECT_EQ(status_of(last().flag), code);
  }
}

TEST_F(RendezvousFetch, TakesASenderForLostThatHasTakenTheDataAway) {
  request& r = fetch(data_);
  for (const status code : {status::withdrawn, status::denied, status::out_of_bounds}) {
    EXPECT_EQ(rendezvous_.end_fetch(r, code), status::peer_lost) << name_of(code);
    EXPECT_EQ(status_of(last().flag), status::peer_lost);
  }
}

TEST_F(RendezvousFetch, TellsTheReceiverWhetherAllOfItFitted) {
  request& r = fetch(data_);
  const auto all = rendezvous::received(r, status::done, data_.size());
  EXPECT_EQ(all.code, status::done);
  EXPECT_EQ(all.bytes, data_.size());
  EXPECT_EQ(all.tag, its_tag);
  const auto cut = rendezvous::received(r, status::done, 100);
  EXPECT_EQ(cut.code, status::truncated);
  EXPECT_EQ(cut.bytes, 100u);
  const auto none = rendezvous::received(r, status::peer_lost, 100);
  EXPECT_EQ(none.code, status::peer_lost);
  EXPECT_EQ(none.bytes, 0u);
}

}  // namespace
}  // namespace heddle::protocols
