// SPDX-License-Identifier: BSD-3-Clause
// faults_test.cpp - what a faulty endpoint may do to its user, and what it must not.
#include "backends/faults/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "backends/faults/scripted_endpoint.h"

namespace heddle::transport {
namespace {

using testing::ElementsAre;
using kind_t = event::kind_t;

/// `number`, by which the tests know it, is in a field that these ops do not need.
struct test_op : op {
  rank whom = 0;
};
test_op make_op(op_kind kind, rank peer, std::uint64_t number) {
  test_op o;
  o.kind = kind;
  o.whom = peer;
  o.offset = number;
  return o;
}

/// A faulty endpoint over a scripted one, and what came out of it.
struct rig {
  script inner;
  std::unique_ptr<device> outer;
  std::unique_ptr<endpoint> port;

  explicit rig(const fault_plan& plan, bool ordered = true) {
    inner.ordered = ordered;
    outer = make_faulty(std::make_unique<scripted_device>(inner), plan);
    port = outer->make_endpoint(0);
  }

  /// Everything that comes out of `polls` polls, with the messages' bytes copied at once.
  struct seen {
    event what;
    std::vector<std::byte> bytes;
  };
  std::vector<seen> drain(int polls = 1000) {
    std::vector<seen> all;
    std::array<event, 8> events;
    for (int p = 0; p < polls; ++p) {
      const std::size_t n = port->poll(events);
      for (std::size_t i = 0; i < n; ++i)
        all.push_back({events[i], {events[i].bytes.begin(), events[i].bytes.end()}});
    }
    return all;
  }

  post_result post(std::span<test_op> ops) {
    std::vector<op*> all;
    for (test_op& o : ops) {
      o.to = port->reach(o.whom, 0);
      all.push_back(&o);
    }
    return port->post(all);
  }
  /// Posts until all are taken.
  void post_all(std::vector<test_op>& ops) {
    std::span<test_op> rest(ops);
    std::array<event, 8> none;
    for (int tries = 0; !rest.empty() && tries < 10'000; ++tries) {
      const post_result r = post(rest);
      rest = rest.subspan(r.accepted);
      ASSERT_EQ(port->poll(none), 0u);
    }
    ASSERT_TRUE(rest.empty());
  }
};

std::vector<std::uint64_t> numbers_of(const std::vector<op>& ops) {
  std::vector<std::uint64_t> all;
  for (const op& o : ops) all.push_back(o.offset);
  return all;
}

TEST(Faults, ChangesNothingWithoutAPlan) {
  rig r({});
  std::vector ops{make_op(op_kind::send, 1, 10), make_op(op_kind::get, 2, 11)};
  EXPECT_EQ(r.post(ops).accepted, 2u);
  EXPECT_THAT(numbers_of(r.inner.posted), ElementsAre(10, 11));
  EXPECT_TRUE(ops[0].over);
  EXPECT_TRUE(r.port->arm());
  EXPECT_TRUE(r.port->idle());
  EXPECT_EQ(r.port->fd(), 77);
  EXPECT_EQ(r.outer->fd(), 78);
  EXPECT_EQ(r.outer->serve(), 5);
  detail::remote_target out;
  EXPECT_NE(r.outer->import(1, {}, out), nullptr);
}

TEST(Faults, MapsNothingWhenToldSo) {
  fault_plan plan;
  plan.map = false;
  rig r(plan);
  detail::remote_target out;
  EXPECT_EQ(r.outer->import(1, {}, out), nullptr);
}

TEST(Faults, AnswersBusyNowAndThenAndLosesNoOp) {
  fault_plan plan;
  plan.busy = 50;
  rig r(plan);
  std::vector<test_op> ops;
  for (std::uint64_t i = 0; i < 200; ++i) ops.push_back(make_op(op_kind::send, 1, i));
  const post_result first = r.post(ops);
  EXPECT_LT(first.accepted, 200u);
  EXPECT_EQ(first.reason, status::busy_queue);
  std::vector<test_op> rest(ops.begin() + static_cast<std::ptrdiff_t>(first.accepted), ops.end());
  r.post_all(rest);
  ASSERT_EQ(r.inner.posted.size(), 200u);
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(r.inner.posted[i].offset, i);
}

TEST(Faults, ReportsRoomOnceAfterItAnsweredBusyForNothing) {
  fault_plan plan;
  plan.busy = 90;
  rig r(plan);
  std::vector ops(50, make_op(op_kind::send, 1, 0));
  ASSERT_EQ(r.post(ops).reason, status::busy_queue);
  std::array<event, 4> none;
  (void)r.port->poll(none);
  EXPECT_FALSE(r.port->arm());  // or its user would sleep with an op in hand
  (void)r.port->poll(none);
  EXPECT_TRUE(r.port->arm());  // and now its user had the chance to ask again
}

TEST(Faults, RefusesNothingWithoutReasonOnceItIsArmed) {
  fault_plan plan;
  plan.busy = 90;
  rig r(plan);
  ASSERT_TRUE(r.port->arm());
  std::vector ops(50, make_op(op_kind::send, 1, 0));
  EXPECT_EQ(r.post(ops).accepted, 50u);  // nobody would be woken to ask again
  std::array<event, 4> none;
  (void)r.port->poll(none);
  EXPECT_EQ(r.post(ops).reason, status::busy_queue);
}

TEST(Faults, SaysThatItDefersWhenItHoldsOpsBack) {
  fault_plan plan;
  EXPECT_FALSE(rig(plan).outer->describe().defers);
  plan.delay = 1;
  EXPECT_TRUE(rig(plan).outer->describe().defers);
}

TEST(Faults, EndsEveryHeldOpOnceAndSaysSoInAnEvent) {
  fault_plan plan;
  plan.delay = 5;
  plan.reorder = 30;
  rig r(plan);
  std::vector<test_op> ops;
  for (std::uint64_t i = 0; i < 100; ++i) ops.push_back(make_op(op_kind::put, 1, i));
  r.inner.answer = status::done;
  std::multiset<std::uint64_t> ended;
  std::span<test_op> rest(ops);
  std::array<event, 8> events;
  for (int polls = 0; polls < 2000; ++polls) {
    const post_result p = r.post(rest);
    for (const op& o : rest.first(p.accepted))
      if (o.over) ended.insert(o.offset);
    rest = rest.subspan(p.accepted);
    const std::size_t n = r.port->poll(events);
    for (std::size_t i = 0; i < n; ++i) ended.insert(events[i].of->offset);
  }
  EXPECT_EQ(r.inner.posted.size(), 100u);
  EXPECT_EQ(ended.size(), 100u);
  EXPECT_EQ(std::set(ended.begin(), ended.end()).size(), 100u);
  EXPECT_TRUE(r.port->idle());
  EXPECT_TRUE(r.port->arm());
}

TEST(Faults, CopiesTheSendsThatItHolds) {
  fault_plan plan;
  plan.delay = 5;
  rig r(plan);
  std::vector<std::uint32_t> words(2);
  std::array<event, 8> none;
  for (std::uint32_t i = 0; i < 100; ++i) {
    words = {i, i + 1};
    std::vector ops{make_op(op_kind::send, 1, i)};
    ops[0].header = std::as_bytes(std::span(words)).first(4);
    ops[0].memory = only_read(std::as_bytes(std::span(words)).subspan(4));
    std::span<test_op> rest(ops);
    while (!rest.empty()) {
      rest = rest.subspan(r.post(rest).accepted);
      EXPECT_EQ(r.port->poll(none), 0u);
    }
    EXPECT_TRUE(ops[0].over);
  }
  EXPECT_TRUE(r.drain().empty());
  ASSERT_EQ(r.inner.messages.size(), 100u);
  for (std::uint32_t i = 0; i < 100; ++i) {
    words = {i, i + 1};
    const auto whole = std::as_bytes(std::span(words));
    const std::vector head(sizeof(message_head), std::byte{0});
    std::vector expected(head);
    expected.insert(expected.end(), whole.begin(), whole.end());
    EXPECT_EQ(r.inner.messages[i], expected);
  }
}

TEST(Faults, IsNotIdleAndDoesNotSleepWhileItHoldsAnOp) {
  fault_plan plan;
  plan.delay = 1000;
  rig r(plan);
  for (std::uint64_t i = 0; i < 8; ++i) {
    std::vector ops{make_op(op_kind::send, 1, i)};
    (void)r.post(ops);
  }
  ASSERT_LT(r.inner.posted.size(), 8u);
  EXPECT_FALSE(r.port->idle());
  EXPECT_FALSE(r.port->arm());
}

TEST(Faults, SleepsWhileEveryHeldOpWaitsForRoomBelow) {
  fault_plan plan;
  plan.delay = 3;
  rig r(plan);
  r.inner.room = 0;
  std::vector<test_op> ops;
  for (std::uint64_t i = 0; i < 20; ++i) ops.push_back(make_op(op_kind::send, 1, i));
  std::span<test_op> rest(ops);
  std::array<event, 4> none;
  for (int i = 0; i < 100; ++i) {
    rest = rest.subspan(r.post(rest).accepted);
    (void)r.port->poll(none);
  }
  EXPECT_FALSE(r.port->idle());
  EXPECT_TRUE(r.port->arm());
  r.inner.room = SIZE_MAX;
  (void)r.drain();
  EXPECT_FALSE(r.inner.posted.empty());
}

TEST(Faults, KeepsSendsBehindEarlierSendsAndPutsToTheSamePeer) {
  fault_plan plan;
  plan.delay = 6;
  plan.reorder = 40;
  rig r(plan);
  std::vector<test_op> ops;
  for (std::uint64_t i = 0; i < 400; ++i)
    ops.push_back(make_op(i % 3 == 0 ? op_kind::send : op_kind::put, static_cast<rank>(i % 2), i));
  std::span<test_op> rest(ops);
  std::array<event, 64> events;
  for (int polls = 0; polls < 5000; ++polls) {
    rest = rest.subspan(r.post(rest).accepted);
    (void)r.port->poll(events);
  }
  ASSERT_EQ(r.inner.posted.size(), 400u);
  bool overtaken = false;
  for (std::size_t i = 0; i < 400; ++i)
    for (std::size_t j = i + 1; j < 400; ++j) {
      const op &first = r.inner.posted[i], &second = r.inner.posted[j];
      if (first.offset < second.offset) continue;
      overtaken = true;
      EXPECT_FALSE(first.kind == op_kind::send && first.to == second.to)
          << first.offset << " overtook " << second.offset;
    }
  EXPECT_TRUE(overtaken);
}

/// Messages 0, 1, 2 ... from peers in turn, each of 4 bytes that say its number.
void script_messages(script& inner, int count, int peers, std::vector<int>& numbers) {
  numbers.resize(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    numbers[static_cast<std::size_t>(i)] = i;
    const std::span<const int, 1> one(&numbers[static_cast<std::size_t>(i)], 1);
    inner.events.push_back(
        {kind_t::arrived, status::done, inner.reach(i % peers), nullptr, std::as_bytes(one)});
  }
}

TEST(Faults, KeepsMessagesWholeAndInOrderPerPeerWhileOtherPeersOvertake) {
  fault_plan plan;
  plan.delay = 4;
  plan.reorder = 40;
  plan.split = 50;
  rig r(plan);
  std::vector<int> numbers;
  script_messages(r.inner, 300, 3, numbers);
  std::array<int, 3> last{-1, -1, -1};
  int highest = -1;
  bool overtaken = false;
  const auto all = r.drain(3000);
  ASSERT_EQ(all.size(), 300u);
  for (const auto& s : all) {
    int number = 0;
    ASSERT_EQ(s.bytes.size(), sizeof number);
    std::memcpy(&number, s.bytes.data(), sizeof number);
    EXPECT_GT(number, last[static_cast<std::size_t>(s.what.from->peer)]);
    last[static_cast<std::size_t>(s.what.from->peer)] = number;
    overtaken = overtaken || number < highest;
    highest = std::max(highest, number);
  }
  EXPECT_TRUE(overtaken);
}

TEST(Faults, KeepsMessagesOfOnePeerInOrderAlsoWhenPutsMayBeOvertaken) {
  fault_plan plan;
  plan.reorder = 50;
  rig r(plan, false);
  std::vector<int> numbers;
  script_messages(r.inner, 100, 1, numbers);
  int previous = -1;
  for (const auto& s : r.drain()) {
    int number = 0;
    std::memcpy(&number, s.bytes.data(), sizeof number);
    EXPECT_EQ(number, previous + 1);
    previous = number;
  }
  EXPECT_EQ(previous, 99);
}

TEST(Faults, DoesTheSameForTheSameSeed) {
  const auto run = [](std::uint64_t seed) {
    fault_plan plan;
    plan.seed = seed;
    plan.delay = 4;
    plan.reorder = 40;
    plan.split = 50;
    rig r(plan);
    std::vector<test_op> ops;
    for (std::uint64_t i = 0; i < 100; ++i) ops.push_back(make_op(op_kind::get, 0, i));
    for (op& o : ops)
      r.inner.events.push_back({kind_t::ended, status::done, r.inner.reach(0), &o, {}});
    std::vector<std::uint64_t> order;
    for (const auto& s : r.drain()) order.push_back(s.what.of->offset);
    return order;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

TEST(Faults, LosesAPeerAtTheGivenStepWithItsHeldOpsAndMessages) {
  fault_plan plan;
  plan.kill = 1;
  plan.kill_at = 4;
  plan.delay = 50;
  rig r(plan);
  std::vector<test_op> ops;
  for (std::uint64_t i = 0; i < 10; ++i) ops.push_back(make_op(op_kind::put, 1, i));
  const post_result p = r.post(ops);
  EXPECT_EQ(p.accepted, 3u);
  EXPECT_EQ(p.reason, status::peer_lost);
  EXPECT_THAT(r.inner.dropped, ElementsAre(1));
  std::vector<int> numbers;
  script_messages(r.inner, 10, 2, numbers);

  std::size_t messages = 0, lost = 0, ended = 0;
  const auto all = r.drain();
  for (const auto& s : all) {
    ended += s.what.kind == kind_t::ended && s.what.code == status::peer_lost;
    lost += s.what.kind == kind_t::peer_lost && s.what.from->peer == 1;
    messages += s.what.kind == kind_t::arrived && s.what.from->peer == 0;
  }
  EXPECT_EQ(messages + lost + ended, all.size());
  EXPECT_EQ(ended + r.inner.posted.size(), 3u);
  EXPECT_EQ(lost, 1u);
  EXPECT_EQ(messages, 5u);
  std::vector other{make_op(op_kind::send, 0, 99)};
  EXPECT_EQ(r.post(other).accepted, 1u);
}

TEST(Faults, CountsMessagesAsStepsToo) {
  fault_plan plan;
  plan.kill = 0;
  plan.kill_at = 3;
  rig r(plan);
  std::vector<int> numbers;
  script_messages(r.inner, 5, 1, numbers);
  std::size_t messages = 0;
  for (const auto& s : r.drain()) messages += s.what.kind == kind_t::arrived;
  EXPECT_LT(messages, 3u);
  EXPECT_THAT(r.inner.dropped, ElementsAre(0));
}

TEST(Faults, FailsEveryPeerPostedToFromTheGivenOpOn) {
  fault_plan plan;
  plan.fail_from = 3;
  rig r(plan);
  std::vector ops{make_op(op_kind::send, 1, 0), make_op(op_kind::send, 2, 1),
                  make_op(op_kind::send, 3, 2)};
  const post_result p = r.post(ops);
  EXPECT_EQ(p.accepted, 2u);
  EXPECT_EQ(p.reason, status::peer_lost);
  EXPECT_THAT(r.inner.dropped, ElementsAre(3));
}

TEST(Faults, DropEndsWhatIsHeldForThatPeerOnly) {
  fault_plan plan;
  plan.delay = 1000;
  rig r(plan);
  std::vector<test_op> ops;
  for (std::uint64_t i = 0; i < 40; ++i)
    ops.push_back(make_op(i < 20 ? op_kind::get : op_kind::send, static_cast<rank>(i % 2), i));
  ASSERT_EQ(r.post(ops).accepted, 40u);
  const std::size_t direct = r.inner.posted.size();
  ASSERT_LT(direct, 40u);
  r.port->drop(*r.inner.reach(1));
  EXPECT_THAT(r.inner.dropped, ElementsAre(1));
  std::vector again{make_op(op_kind::send, 1, 99)};
  EXPECT_EQ(r.post(again).reason, status::peer_lost);
  for (const auto& s : r.drain(3000)) {
    EXPECT_EQ(s.what.code, s.what.from->peer == 1 ? status::peer_lost : status::done);
    if (s.what.kind != kind_t::ended) continue;
    EXPECT_LT(s.what.of->offset, 20u) << "a send was over and ended again";
  }
}

TEST(Faults, PassesOnOnePeerLostAtMost) {
  fault_plan plan;
  plan.kill = 1;
  plan.kill_at = 1;
  rig r(plan);
  std::vector ops{make_op(op_kind::send, 1, 0)};
  EXPECT_EQ(r.post(ops).reason, status::peer_lost);
  r.inner.events.push_back({kind_t::peer_lost, status::peer_lost, r.inner.reach(1), nullptr, {}});
  EXPECT_EQ(r.drain().size(), 1u);
}

}  // namespace
}  // namespace heddle::transport
