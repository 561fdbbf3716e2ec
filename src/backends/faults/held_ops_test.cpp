// SPDX-License-Identifier: BSD-3-Clause
// held_ops_test.cpp - in which order and when held ops go on, without an endpoint.
#include "backends/faults/held_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/faults/scripted_endpoint.h"

namespace heddle::transport {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct HeldOps : testing::Test {
  op make(op_kind kind, scripted_lane& to, std::uint64_t number) {
    op o;
    o.kind = kind;
    o.to = &to;
    o.offset = number;
    return o;
  }
  /// Numbers of those that went on in one round in which so many had room.
  std::vector<std::uint64_t> release(held_ops& ops, std::size_t room = SIZE_MAX) {
    std::vector<std::uint64_t> gone;
    ops.release([&](op& o) {
      if (gone.size() == room) return false;
      gone.push_back(o.offset);
      return true;
    });
    return gone;
  }

  fault_plan plan;
  chance random{1};
  scripted_lane one{1, 0}, two{2, 0};
};

TEST_F(HeldOps, GoOnInTheirOrderWhenNothingIsInTheirWay) {
  held_ops ops(plan, true, random);
  op a = make(op_kind::put, one, 1), b = make(op_kind::send, one, 2);
  ops.hold(a);
  ops.hold(b);
  EXPECT_THAT(release(ops), ElementsAre(1, 2));
  EXPECT_TRUE(ops.empty());
}

TEST_F(HeldOps, AreSendsThatWereCopiedOrOpsThatStayTheirPosters) {
  held_ops ops(plan, true, random);
  op send = make(op_kind::send, one, 1), put = make(op_kind::put, one, 2);
  std::array text{std::byte{7}};
  send.memory = text;
  ops.hold(send);
  ops.hold(put);
  EXPECT_TRUE(send.over);
  EXPECT_FALSE(put.over);
  text[0] = {};
  std::vector<op*> given;
  std::vector<std::byte> sent;
  ops.release([&](op& o) {
    given.push_back(&o);
    if (o.kind == op_kind::send) sent.assign(o.memory.begin(), o.memory.end());
    return true;
  });
  EXPECT_THAT(sent, ElementsAre(std::byte{7}));
  ASSERT_EQ(given.size(), 2u);
  EXPECT_NE(given[0], &send);
  EXPECT_EQ(given[1], &put);
}

TEST_F(HeldOps, KeepASendBehindWhatTheWireKeepsInOrder) {
  held_ops ordered(plan, true, random), loose(plan, false, random);
  op put = make(op_kind::put, one, 1);
  ordered.hold(put);
  loose.hold(put);
  EXPECT_TRUE(ordered.must_hold(make(op_kind::send, one, 2)));
  EXPECT_FALSE(loose.must_hold(make(op_kind::send, one, 2)));
  EXPECT_FALSE(ordered.must_hold(make(op_kind::send, two, 2)));
  EXPECT_FALSE(ordered.must_hold(make(op_kind::put, one, 2)));
}

TEST_F(HeldOps, SayWhetherTheyWaitForNothingButRoom) {
  held_ops ops(plan, true, random);
  op a = make(op_kind::send, one, 1), b = make(op_kind::send, one, 2);
  ops.hold(a);
  ops.hold(b);
  EXPECT_FALSE(ops.only_wait_for_room()) << "they have not been asked";
  EXPECT_THAT(release(ops, 0), IsEmpty());
  EXPECT_TRUE(ops.only_wait_for_room()) << "the second one waits for the first";
}

TEST_F(HeldOps, WaitForAFewRoundsWhenThePlanDelays) {
  plan.delay = 3;
  held_ops ops(plan, true, random);
  std::array<op, 64> all;
  for (op& o : all) ops.hold(o = make(op_kind::put, one, 1));
  EXPECT_TRUE(ops.full());
  EXPECT_LT(release(ops).size(), all.size());
  for (int round = 0; round < 3; ++round) (void)release(ops);
  EXPECT_TRUE(ops.empty());
}

TEST_F(HeldOps, AreForgottenWithTheirPeer) {
  held_ops ops(plan, true, random);
  op a = make(op_kind::put, one, 1), b = make(op_kind::put, two, 2);
  ops.hold(a);
  ops.hold(b);
  std::vector<op*> ended;
  ops.drop_all_of(one, [&](op& o) { ended.push_back(&o); });
  EXPECT_THAT(ended, ElementsAre(&a));
  EXPECT_THAT(release(ops), ElementsAre(2));
}

}  // namespace
}  // namespace heddle::transport
