// SPDX-License-Identifier: BSD-3-Clause
// inlets_test.cpp - ends of streams that begin anew. Each test runs on a software device of its
// own, in a process of its own.
#include "backends/verbs/inlets.h"

#include <gtest/gtest.h>

#include <optional>

#include "support/first_port.h"
#include "support/ranks_on_softhca.h"

namespace heddle::transport::verbs {
namespace {

/// A lane, and a peer whose stream to it begins anew each time.
struct lane_and_peer {
  lane_and_peer() {
    peer.number = ask.from = 1;
    peer.place = port.opened.place();
  }
  /// Which inlet it has now. Nothing: it was refused.
  std::optional<std::uint32_t> begin_anew() {
    ++ask.question;
    ++ask.end.qpn;
    return answer_to(ask);
  }
  std::optional<std::uint32_t> answer_to(const hello& asked) {
    const hello answer = ends.admit(asked, peer);
    if (answer.kind != hello::kind_t::answer) return {};
    return answer.inlet;
  }
  /// The lane's thread polls, and nothing is in the queue.
  void poll() {
    ends.note_replaced();
    ends.end_noted();
  }

  test::first_port port;
  lane_queues queues{port.opened};
  inlets ends{queues};
  peer_facts peer;
  hello ask;  ///< the newest
};

TEST(Inlets, KeepsFewInletsOfAStreamThatBeginsAnewAgainAndAgain) {
  test::in_own_process({}, [] {
    lane_and_peer both;
    for (int times = 0; times < 100; ++times) {
      const auto number = both.begin_anew();
      ASSERT_TRUE(number.has_value());
      EXPECT_EQ(both.answer_to(both.ask), number);
      const inlet* const now = both.ends.find(*number);
      ASSERT_NE(now, nullptr);
      EXPECT_NE(now->qp, nullptr);
      EXPECT_EQ(now->their_qpn, both.ask.end.qpn);
      both.poll();
      both.poll();
    }
    EXPECT_LE(both.ends.all().size(), 3u);
  });
}

TEST(Inlets, HasNothingForAnInletThatIsClosedAndLetGoOf) {
  test::in_own_process({}, [] {
    lane_and_peer both;
    const auto first = both.begin_anew();
    const hello late = both.ask;
    const auto second = both.begin_anew();
    ASSERT_TRUE(first.has_value() && second.has_value());
    EXPECT_NE(first, second) << "something may still come over the first";
    EXPECT_NE(both.ends.find(*first), nullptr);
    both.poll();
    both.poll();
    EXPECT_EQ(both.ends.find(*first), nullptr);
    EXPECT_NE(both.ends.find(*second), nullptr);
    EXPECT_FALSE(both.answer_to(late).has_value());
    EXPECT_EQ(both.begin_anew(), first);
    EXPECT_FALSE(both.answer_to(late).has_value());
  });
}

}  // namespace
}  // namespace heddle::transport::verbs
