// SPDX-License-Identifier: BSD-3-Clause
// held_events_test.cpp - in which order and when held events are delivered, without an endpoint.
#include "backends/faults/held_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "backends/faults/scripted_endpoint.h"

namespace heddle::transport {
namespace {

using kind_t = event::kind_t;

struct HeldEvents : testing::Test {
  void hold(held_events& events, kind_t kind, scripted_lane& from, std::string_view text = {}) {
    events.hold({kind, status::done, &from, nullptr, std::as_bytes(std::span(text))});
  }
  std::vector<event> deliver(held_events& events, std::size_t most = 8) {
    std::vector<event> out(most);
    out.resize(events.deliver(out));
    return out;
  }

  fault_plan plan;
  chance random{1};
  scripted_lane one{1, 0}, two{2, 0};
};

TEST_F(HeldEvents, ComeOutInTheirOrderAndAsManyAsThereIsRoomFor) {
  held_events events(plan, random);
  hold(events, kind_t::arrived, one);
  hold(events, kind_t::arrived, two);
  EXPECT_TRUE(deliver(events, 0).empty());
  EXPECT_EQ(deliver(events, 1).at(0).from, &one);
  EXPECT_EQ(deliver(events, 1).at(0).from, &two);
  EXPECT_TRUE(events.empty());
}

TEST_F(HeldEvents, HaveTheirOwnCopyOfTheBytes) {
  held_events events(plan, random);
  std::string text = "abc";
  hold(events, kind_t::arrived, one, text);
  text = "xyz";
  const auto out = deliver(events);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(std::memcmp(out[0].bytes.data(), "abc", 3), 0);
  events.end_delivery();
}

TEST_F(HeldEvents, LetOnlyTheEndsOfOpsOvertake) {
  plan.delay = 5;
  plan.reorder = 50;
  held_events events(plan, random);
  for (int i = 0; i < 20; ++i) {
    hold(events, kind_t::arrived, one, std::string(static_cast<std::size_t>(i) + 1, 'x'));
    hold(events, kind_t::ended, two);
  }
  std::size_t last = 0, ends = 0;
  bool overtaken = false;
  while (!events.empty())
    for (const event& e : deliver(events)) {
      if (e.kind == kind_t::ended) {
        overtaken |= ++ends > last;
      } else {
        EXPECT_EQ(e.bytes.size(), ++last);
      }
    }
  EXPECT_EQ(last, 20u);
  EXPECT_TRUE(overtaken);
}

TEST_F(HeldEvents, ForgetTheMessagesOfAPeerAndNothingElse) {
  held_events events(plan, random);
  hold(events, kind_t::arrived, one);
  hold(events, kind_t::arrived, two);
  hold(events, kind_t::peer_lost, one);
  events.drop_messages_of(one);
  const auto out = deliver(events);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].from, &two);
  EXPECT_EQ(out[1].kind, kind_t::peer_lost);
}

TEST_F(HeldEvents, AreFullOnceThereAreMany) {
  held_events events(plan, random);
  EXPECT_FALSE(events.full());
  for (int i = 0; i < 256; ++i) hold(events, kind_t::ended, one);
  EXPECT_TRUE(events.full());
}

}  // namespace
}  // namespace heddle::transport
