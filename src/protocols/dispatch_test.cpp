// SPDX-License-Identifier: BSD-3-Clause
// dispatch_test.cpp - which protocol a command goes to, what is refused before any, and what was
// accepted before.
#include "protocols/dispatch.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "protocols/eager.h"
#include "protocols/waits.h"
#include "support/rma_fixture.h"

namespace heddle::protocols {
namespace {

using test::ending;
using transport::op_kind;

/// A wire that takes puts and messages, and leaves the puts under way.
class Dispatch : public Rma {
 protected:
  static constexpr tag its_tag = 5;

  status execute(const command& c) {
    const status s = dispatch_.execute(c, batch_);
    batch_.run();
    return s;
  }
  void execute_accepted(const command& c) {
    dispatch_.execute_accepted(c, batch_);
    batch_.run();
  }
  static command of(command_kind kind, rank to, const completion& done) {
    command c;
    c.kind = kind;
    c.peer = to;
    c.done = done;
    return c;
  }
  void use_up_records() {
    while (!lone_.ops.room().full()) lone_.ops.room().take();
  }
  void comes(tag t) {
    message m;
    m.kind = message_kind::tag_eager;
    m.word = t;
    m.payload = one_;
    tagged_.on_message(peer_, m);
    batch_.run();
  }

  eager eager_{lone_.path, peers_, lone_.ops, rendezvous_, flow_, lone_.counters};
  waits waits_{lone_.path, peers_, lone_.ops};
  const dispatch::command_table kinds_ = [this] {
    dispatch::command_table table;
    table.fill(&rma_);
    const auto set = [&](command_kind kind, protocol& owner) { table[index_of(kind)] = &owner; };
    set(command_kind::send, eager_);
    set(command_kind::call, eager_);
    set(command_kind::recv, tagged_);
    set(command_kind::match, tagged_);
    set(command_kind::recv_taken, tagged_);
    set(command_kind::flush, waits_);
    set(command_kind::when_ready, waits_);
    return table;
  }();
  dispatch dispatch_{lone_.path, lone_.ops, kinds_, tagged_, rma_};
  std::array<std::byte, 1> one_{std::byte{1}};
  ending other_end_;
};

TEST_F(Dispatch, GivesEachCommandToItsProtocol) {
  EXPECT_EQ(execute(send_command(1, its_tag, one_, {})), status::done);
  EXPECT_EQ(last().kind, message_kind::tag_eager);
  EXPECT_EQ(execute(call_command(1, handler, {}, one_, {})), status::done);
  EXPECT_EQ(last().kind, message_kind::call_eager);
  EXPECT_EQ(execute(receive_command(1, its_tag, one_, {})), status::posted);
  EXPECT_EQ(tagged_.matching().receives.size(), 1u);
  for (const auto kind : {command_kind::put, command_kind::put_notify, command_kind::put_signal,
                          command_kind::get, command_kind::atomic}) {
    EXPECT_EQ(execute(command_of(kind)), status::posted);
    EXPECT_EQ(wire_.posted.back().kind, native_kind(kind));
  }
}

TEST_F(Dispatch, TakesAMessageOutOfMatchingAndReceivesIt) {
  detail::taken_message taken{};
  EXPECT_EQ(execute(match_command(1, its_tag, taken, end_)), status::posted);
  comes(its_tag);
  EXPECT_EQ(end_.count, 1);
  std::array<std::byte, 1> into{};
  EXPECT_EQ(execute(receive_taken_command(*taken.message, into, other_end_)), status::posted);
  EXPECT_EQ(other_end_.code, status::done);
  EXPECT_EQ(other_end_.count, 1);
  EXPECT_EQ(into, one_);
}

TEST_F(Dispatch, RefusesACallThatNoMessageCanCarry) {
  const std::array<std::byte, max_call_header + 1> header{};
  EXPECT_EQ(execute(call_command(1, max_handlers, {}, one_, {})), status::invalid);
  EXPECT_EQ(execute(call_command(1, handler, header, one_, {})), status::invalid);
  EXPECT_TRUE(wire_.messages.empty());
  EXPECT_EQ(execute(call_command(1, max_handlers - 1, std::span(header).first(max_call_header),
                                 one_, {})),
            status::done);
}

TEST_F(Dispatch, AFlushIsDoneWhereNothingIsUnderWay) {
  EXPECT_EQ(execute(of(command_kind::flush, 1, {})), status::done);
  EXPECT_EQ(execute(of(command_kind::flush, any_source, {})), status::done);
  EXPECT_EQ(execute(of(command_kind::flush, 0, {})), status::done) << "never met";
  EXPECT_EQ(peers_.find(0), nullptr) << "nor met by being asked";
  EXPECT_EQ(execute(of(command_kind::flush, 2, {})), status::invalid);
}

TEST_F(Dispatch, AFlushOfOnePeerOrOfAllWaitsForWhatIsUnderWay) {
  EXPECT_EQ(execute(command_of(command_kind::put)), status::posted);
  EXPECT_EQ(execute(of(command_kind::flush, 1, end_)), status::posted);
  EXPECT_EQ(execute(of(command_kind::flush, any_source, other_end_)), status::posted);
  EXPECT_EQ(end_.count + other_end_.count, 0);
  ends();
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(other_end_.count, 1);
}

TEST_F(Dispatch, TellsWhoWaitsForRoomAtOnceWhereThereIsSome) {
  EXPECT_EQ(execute(of(command_kind::when_ready, any_source, end_)), status::posted);
  EXPECT_EQ(end_.count, 1);
  use_up_records();
  EXPECT_EQ(execute(of(command_kind::when_ready, any_source, other_end_)), status::posted);
  EXPECT_EQ(other_end_.count, 0);
  lone_.ops.room().give_back();
  lone_.ops.room().tell(batch_);
  batch_.run();
  EXPECT_EQ(other_end_.count, 1);
}

TEST_F(Dispatch, TakesWhatWasAcceptedAlthoughThereAreEnough) {
  use_up_records();
  EXPECT_EQ(execute(receive_command(1, its_tag, one_, end_)), status::busy_records);
  execute_accepted(receive_command(1, its_tag, one_, end_));
  EXPECT_EQ(end_.count, 0);
  EXPECT_EQ(tagged_.matching().receives.size(), 1u);
  EXPECT_EQ(execute(receive_command(1, its_tag, one_, end_)), status::busy_records)
      << "only that one";
}

TEST_F(Dispatch, DeliversTheEndOfWhatWasAcceptedInEveryCase) {
  execute_accepted(send_command(1, its_tag, one_, end_));
  EXPECT_EQ(end_.count, 1);
  EXPECT_EQ(end_.what.code, status::done);
  EXPECT_EQ(end_.what.bytes, 1u);
  EXPECT_EQ(end_.what.peer, 1);
  execute_accepted(send_command(2, its_tag, one_, end_));
  EXPECT_EQ(end_.count, 2);
  EXPECT_EQ(end_.what.code, status::invalid);
  EXPECT_EQ(end_.what.bytes, 0u);
}

TEST_F(Dispatch, KeepsBackWhatWasAcceptedInABatchAndPostsItTogether) {
  dispatch_.begin_batch();
  execute_accepted(command_of(command_kind::put));
  execute_accepted(command_of(command_kind::put));
  EXPECT_TRUE(wire_.posted.empty());
  dispatch_.end_batch(batch_);
  EXPECT_EQ(wire_.posted.size(), 2u);
  EXPECT_EQ(lone_.counters.posts_together.get(), 1u);
}

TEST_F(Dispatch, TakesBackAReceiveOrAFlush) {
  EXPECT_EQ(execute(receive_command(1, its_tag, one_, end_)), status::posted);
  EXPECT_EQ(execute(command_of(command_kind::put)), status::posted);
  EXPECT_EQ(execute(of(command_kind::flush, 1, other_end_)), status::posted);
  EXPECT_EQ(dispatch_.cancel(end_, batch_), status::done);
  EXPECT_EQ(dispatch_.cancel(other_end_, batch_), status::done);
  EXPECT_EQ(dispatch_.cancel(end_, batch_), status::not_found);
  batch_.run();
  for (const ending& each : {end_, other_end_}) {
    EXPECT_EQ(each.count, 1);
    EXPECT_EQ(each.code, status::canceled);
  }
}

TEST_F(Dispatch, TellsWhoWaitsForRoomThatWhatIsTakenBackLeavesSome) {
  use_up_records();
  lone_.ops.room().give_back();
  EXPECT_EQ(execute(receive_command(1, its_tag, one_, end_)), status::posted);
  EXPECT_EQ(execute(of(command_kind::when_ready, any_source, other_end_)), status::posted);
  EXPECT_EQ(other_end_.count, 0);
  EXPECT_EQ(dispatch_.cancel(end_, batch_), status::done);
  batch_.run();
  EXPECT_EQ(other_end_.count, 1);
}

}  // namespace
}  // namespace heddle::protocols
