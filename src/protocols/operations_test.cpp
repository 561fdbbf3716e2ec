// SPDX-License-Identifier: BSD-3-Clause
// operations_test.cpp - what is in flight, and who waits for room.
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
