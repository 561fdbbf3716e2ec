// SPDX-License-Identifier: BSD-3-Clause
// flushes_test.cpp - who waits for accesses: for which, in what order they are told, and of what.
#include "protocols/flushes.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using test::ending;

class Flushes : public LoneProtocol {
 protected:
  request& begin_put(peer& p) {
    command c;
    c.kind = command_kind::put;
    c.peer = p.number;
    request& r = lone_.ops.begin(&p, c, owner_);
    lone_.ops.count(r);
    return r;
  }
  void end(request& r, status code = status::done) {
    lone_.ops.finish(r, code);
    batch_.run();
  }
  /// `p` null: of everybody's.
  status flush(peer* p, const completion& done) {
    command c;
    c.kind = command_kind::flush;
    c.peer = p != nullptr ? p->number : any_source;
    c.done = done;
    const status s = lone_.ops.flushing().wait(c, p, owner_);
    batch_.run();
    return s;
  }
  status cancel(const completion& which) {
    const status s = lone_.ops.flushing().cancel(which);
    batch_.run();
    return s;
  }
  static void expect_ended(const ending& e, status code = status::done) {
    EXPECT_EQ(e.count, 1);
    EXPECT_EQ(e.code, code);
  }

  test_owner owner_{lone_.path, lone_.ops, {}};
  peer &first_ = peer_, &second_ = other_lane_;
  ending of_first_, of_all_;
};

TEST_F(Flushes, AreDoneWhereNothingIsUnderWay) {
  EXPECT_EQ(flush(&first_, of_first_), status::done);
  EXPECT_EQ(flush(nullptr, of_all_), status::done);
  request& r = begin_put(second_);
  EXPECT_EQ(flush(&first_, of_first_), status::done) << "it is another's";
  end(r);
  EXPECT_EQ(flush(nullptr, of_all_), status::done);
  EXPECT_EQ(of_first_.count + of_all_.count, 0) << "the answers have told it";
}

TEST_F(Flushes, EndWithTheLastAccessToTheirPeer) {
  request& to_first = begin_put(first_);
  request& to_second = begin_put(second_);
  EXPECT_EQ(flush(&first_, of_first_), status::posted);
  EXPECT_EQ(flush(nullptr, of_all_), status::posted);
  end(to_first);
  expect_ended(of_first_);
  EXPECT_EQ(of_all_.count, 0);
  end(to_second);
  expect_ended(of_all_);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
}

TEST_F(Flushes, WaitForAccessesThatWentStraightAsForTheOthers) {
  request& r = lone_.ops.pool().take();
  lone_.ops.begin_direct(r, first_, command_kind::put, {});
  EXPECT_EQ(flush(&first_, of_first_), status::posted);
  lone_.ops.end_direct(r, status::done);
  batch_.run();
  expect_ended(of_first_);
}

TEST_F(Flushes, EndWithAnAccessThatFailed) {
  request& r = begin_put(first_);
  EXPECT_EQ(flush(&first_, of_first_), status::posted);
  end(r, status::withdrawn);
  expect_ended(of_first_);
}

TEST_F(Flushes, WaitForNothingThatBeganAfterThem) {
  request& before = begin_put(first_);
  EXPECT_EQ(flush(&first_, of_first_), status::posted);
  EXPECT_EQ(flush(nullptr, of_all_), status::posted);
  request& after = begin_put(first_);
  end(begin_put(second_));
  EXPECT_EQ(of_first_.count + of_all_.count, 0);
  end(before);
  expect_ended(of_first_);
  expect_ended(of_all_);
  ending next;
  EXPECT_EQ(flush(&first_, next), status::posted) << "one is still under way";
  end(after);
  expect_ended(next);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
}

TEST_F(Flushes, OfOnePeerEndInTheOrderInWhichTheyWerePosted) {
  std::array<ending, 3> each;
  std::vector<request*> puts;
  for (ending& one : each) {
    puts.push_back(&begin_put(first_));
    EXPECT_EQ(flush(&first_, one), status::posted);
  }
  end(*puts[1]);
  end(*puts[2]);
  for (const ending& one : each) EXPECT_EQ(one.count, 0) << "the first put is under way";
  end(*puts[0]);
  for (const ending& one : each) expect_ended(one);
}

TEST_F(Flushes, SayOfALostPeerThatItIs) {
  request& r = begin_put(first_);
  request& other = begin_put(second_);
  EXPECT_EQ(flush(&first_, of_first_), status::posted);
  EXPECT_EQ(flush(nullptr, of_all_), status::posted);
  first_.lost = true;
  end(r, status::peer_lost);
  expect_ended(of_first_, status::peer_lost);
  EXPECT_EQ(flush(&first_, of_first_), status::peer_lost);
  end(other);
  expect_ended(of_all_);
}

TEST_F(Flushes, ThatWouldWaitAreRefusedWhenThereAreEnough) {
  request& r = begin_put(first_);
  while (!lone_.ops.room().full()) lone_.ops.room().take();
  EXPECT_EQ(flush(&first_, of_first_), status::busy_records);
  EXPECT_EQ(flush(&second_, of_first_), status::done);
  lone_.ops.room().give_back();
  EXPECT_EQ(flush(&first_, of_first_), status::posted);
  end(r);
  expect_ended(of_first_);
}

TEST_F(Flushes, ThatAreCutOffSayWhyAlthoughTheirPeerIsLost) {
  request& r = begin_put(first_);
  EXPECT_EQ(flush(&first_, of_first_), status::posted);
  first_.lost = true;
  lone_.ops.flushing().cut_off(status::closed);
  end(r, status::closed);
  expect_ended(of_first_, status::closed);
}

TEST_F(Flushes, ThatAreTakenBackLeaveTheirAccessesToTheNextOne) {
  ending first, second;
  request& before = begin_put(first_);
  EXPECT_EQ(flush(&first_, first), status::posted);
  request& between = begin_put(first_);
  EXPECT_EQ(flush(&first_, second), status::posted);
  EXPECT_EQ(cancel(first), status::done);
  EXPECT_EQ(cancel(first), status::not_found);
  expect_ended(first, status::canceled);
  end(between);
  EXPECT_EQ(second.count, 0);
  EXPECT_EQ(cancel(second), status::done);
  expect_ended(second, status::canceled);
  EXPECT_EQ(flush(&first_, of_first_), status::posted);
  EXPECT_EQ(flush(nullptr, of_all_), status::posted);
  end(before);
  expect_ended(of_first_);
  expect_ended(of_all_);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
}

TEST_F(Flushes, NobodyTakesBackWhatIsNoFlush) {
  ending put;
  request& r = begin_put(first_);
  r.done = put;
  EXPECT_EQ(cancel(put), status::not_found);
  end(r);
  expect_ended(put);
}

}  // namespace
}  // namespace heddle::protocols
