// SPDX-License-Identifier: BSD-3-Clause
// operations_test.cpp - what is in flight, and who waits for it.
#include "protocols/operations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/lone_path.h"

namespace heddle::protocols {
namespace {

/// How completions ended, in order.
struct endings {
  std::vector<status> codes;
  static void note(void* owner, std::uint64_t, const outcome& what) noexcept {
    static_cast<endings*>(owner)->codes.push_back(what.code);
  }
  completion one() noexcept { return {&note, this, 0}; }
};

class Operations : public testing::Test {
 protected:
  struct nobody final : protocol {
    using protocol::protocol;
  };
  Operations() { ops_.collect_in(batch_); }
  command command_of(command_kind kind) {
    command c;
    c.kind = kind;
    c.peer = 1;
    c.done = seen_.one();
    return c;
  }
  request& begin_put(peer& p) {
    request& r = ops_.begin(&p, command_of(command_kind::put), nobody_);
    ops_.count(r);
    return r;
  }

  delivery_batch batch_;
  test::lone_path lone_{2};
  operations& ops_ = lone_.ops;
  nobody nobody_{lone_.path};
  peer first_, second_;
  endings seen_;
};

TEST_F(Operations, WhatItsThreadAwaitsEndsPastTheBatch) {
  flag raised;
  delivery_batch& mine = delivery_batch::mine();
  ops_.collect_in(mine);
  command c = command_of(command_kind::put);
  c.done = heddle::detail::awaited::by(raised);
  request& r = ops_.pool().take();
  r.memory = c.memory;
  ops_.begin_direct(r, first_, c.kind, c.done);
  ops_.end_direct(r, status::withdrawn);
  EXPECT_TRUE(mine.empty());
  ASSERT_TRUE(raised.ready());
  EXPECT_EQ(raised.result().code, status::withdrawn);
  EXPECT_EQ(raised.result().peer, first_.number);
}

TEST_F(Operations, AnOldIdFindsNothingWhenItsRequestIsSomebodyElses) {
  request& r = begin_put(first_);
  const std::uint64_t id = r.id();
  EXPECT_EQ(ops_.pool().find(id, first_), &r);
  EXPECT_EQ(ops_.pool().find(id, second_), nullptr) << "another peer names it";
  ops_.finish(r, status::done);
  EXPECT_EQ(ops_.pool().find(id, first_), nullptr);
  EXPECT_EQ(&begin_put(first_), &r) << "it is used again";
  EXPECT_EQ(ops_.pool().find(id, first_), nullptr);
  EXPECT_EQ(ops_.pool().find(~0ull, first_), nullptr);
}

TEST_F(Operations, TakeRoomFromTheirBeginToTheirEnd) {
  request& r = begin_put(first_);
  EXPECT_FALSE(ops_.room().full());
  request& other = begin_put(first_);
  EXPECT_TRUE(ops_.room().full());
  ops_.release(r);
  EXPECT_FALSE(ops_.room().full());
  ops_.finish(other, status::done);
  EXPECT_EQ(ops_.room().taken(), 0u);
}

TEST_F(Operations, AFlushEndsWithTheLastAccessToItsPeer) {
  request& to_first = begin_put(first_);
  request& to_second = begin_put(second_);
  ops_.room().must_take(true);
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), &first_, nobody_),
            status::posted);
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), nullptr, nobody_),
            status::posted);
  to_first.done = to_second.done = {};
  ops_.finish(to_first, status::done);
  batch_.run();
  EXPECT_EQ(seen_.codes.size(), 1u);
  ops_.finish(to_second, status::done);
  batch_.run();
  EXPECT_EQ(seen_.codes, (std::vector{status::done, status::done}));
  EXPECT_EQ(ops_.pool().in_use(), 0u);
}

TEST_F(Operations, AFlushOfALostPeerSaysSo) {
  request& r = begin_put(first_);
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), &first_, nobody_),
            status::posted);
  first_.lost = true;
  ops_.finish(r, status::peer_lost);
  batch_.run();
  EXPECT_EQ(seen_.codes, (std::vector{status::peer_lost, status::peer_lost}));
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), &first_, nobody_),
            status::peer_lost);
}

TEST_F(Operations, AFlushWaitsForNothingThatBeganAfterIt) {
  request& before = begin_put(first_);
  before.done = {};
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), &first_, nobody_),
            status::posted);
  ops_.room().must_take(true);
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), nullptr, nobody_),
            status::posted);
  request& after = begin_put(first_);
  request& elsewhere = begin_put(second_);
  after.done = elsewhere.done = {};
  ops_.finish(elsewhere, status::done);
  batch_.run();
  EXPECT_TRUE(seen_.codes.empty());
  ops_.finish(before, status::done);
  batch_.run();
  EXPECT_EQ(seen_.codes, (std::vector{status::done, status::done})) << "one is still under way";
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), &first_, nobody_),
            status::posted);
  ops_.finish(after, status::done);
  batch_.run();
  EXPECT_EQ(seen_.codes.size(), 3u);
  EXPECT_EQ(ops_.pool().in_use(), 0u);
}

TEST_F(Operations, FlushesOfOnePeerEndInTheOrderInWhichTheyWerePosted) {
  ops_.room().must_take(true);
  std::vector<endings> each(3);
  std::vector<request*> puts;
  for (endings& one : each) {
    puts.push_back(&begin_put(first_));
    puts.back()->done = {};
    command c = command_of(command_kind::flush);
    c.done = one.one();
    EXPECT_EQ(ops_.flushing().wait(c, &first_, nobody_), status::posted);
  }
  ops_.finish(*puts[1], status::done);
  ops_.finish(*puts[2], status::done);
  batch_.run();
  for (const endings& one : each) EXPECT_TRUE(one.codes.empty()) << "the first put is under way";
  ops_.finish(*puts[0], status::done);
  batch_.run();
  for (const endings& one : each) EXPECT_EQ(one.codes, std::vector{status::done});
}

TEST_F(Operations, AFlushThatWouldWaitIsRefusedWhenTheyAreFull) {
  begin_put(first_);
  request& second = begin_put(first_);
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), &first_, nobody_),
            status::busy_records);
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), &second_, nobody_), status::done);
  ops_.release(second);
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), &first_, nobody_),
            status::posted);
}

TEST_F(Operations, AFlushThatIsCutOffSaysWhyAlthoughItsPeerIsLost) {
  request& r = begin_put(first_);
  r.done = {};
  EXPECT_EQ(ops_.flushing().wait(command_of(command_kind::flush), &first_, nobody_),
            status::posted);
  first_.lost = true;
  ops_.flushing().cut_off(status::closed);
  ops_.finish(r, status::closed);
  batch_.run();
  EXPECT_EQ(seen_.codes, std::vector{status::closed});
}

TEST_F(Operations, AFlushThatIsTakenBackLeavesItsAccessesToTheNextOne) {
  ops_.room().must_take(true);
  endings first, second;
  request& before = begin_put(first_);
  command c = command_of(command_kind::flush);
  c.done = first.one();
  EXPECT_EQ(ops_.flushing().wait(c, &first_, nobody_), status::posted);
  request& between = begin_put(first_);
  before.done = between.done = {};
  c.done = second.one();
  EXPECT_EQ(ops_.flushing().wait(c, &first_, nobody_), status::posted);
  EXPECT_EQ(ops_.flushing().cancel(first.one()), status::done);
  EXPECT_EQ(ops_.flushing().cancel(first.one()), status::not_found);
  ops_.finish(between, status::done);
  batch_.run();
  EXPECT_EQ(first.codes, std::vector{status::canceled});
  EXPECT_TRUE(second.codes.empty());
  EXPECT_EQ(ops_.flushing().cancel(second.one()), status::done);
  c.done = seen_.one();
  EXPECT_EQ(ops_.flushing().wait(c, &first_, nobody_), status::posted);
  EXPECT_EQ(ops_.flushing().wait(c, nullptr, nobody_), status::posted);
  ops_.finish(before, status::done);
  batch_.run();
  EXPECT_EQ(second.codes, std::vector{status::canceled});
  EXPECT_EQ(seen_.codes, (std::vector{status::done, status::done}));
  EXPECT_EQ(ops_.pool().in_use(), 0u);
}

TEST_F(Operations, TellWhoWaitsForRoomWhenTheyAreAborted) {
  begin_put(first_);
  begin_put(first_);
  ops_.room().wait(seen_.one());
  ops_.abort(status::closed);
  batch_.run();
  EXPECT_EQ(seen_.codes, std::vector{status::done});
}

TEST(RequestQueue, KeepsOrderAndLetsAnyoneGo) {
  request_pool pool;
  request_queue queue;
  request &a = pool.take(), &b = pool.take(), &c = pool.take();
  queue.add(a);
  queue.add(b);
  queue.add(c);
  take_in_hand(b);
  take_in_hand(b);  // it is in none now
  EXPECT_EQ(&queue.take_first(), &a);
  queue.add_first(a);
  EXPECT_EQ(&queue.take_first(), &a);
  EXPECT_EQ(&queue.take_first(), &c);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace heddle::protocols
