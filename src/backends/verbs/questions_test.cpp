// SPDX-License-Identifier: BSD-3-Clause
// questions_test.cpp - how long is waited for an answer. Each test runs on a software device of its
// own, in a process of its own.
#include "backends/verbs/questions.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "support/first_port.h"
#include "support/ranks_on_softhca.h"

namespace heddle::transport::verbs {
namespace {

constexpr std::uint64_t patience_ns = 1'000'000'000'000;  // far longer than a test takes

/// A lane that has asked a peer who says nothing.
struct asking_lane {
  asking_lane() {
    peer.place = port.opened.place();
    peer.greeter = 0;  // nobody
    all.ask(peer, {}, box);
  }
  /// Looks once, so long after the last time. Whether the peer was given up.
  bool look_after(std::uint64_t ns) {
    (void)all.move(now += ns);
    return box->has_letters();
  }

  test::first_port port;
  const std::array<std::byte, 32> secret{};
  greeter by{port.opened, secret};
  peer_facts peer;
  std::shared_ptr<letter_box> box = std::make_shared<letter_box>();
  questions all{by, patience_ns};
  std::uint64_t now = now_ns();
};

TEST(Questions, EndWithoutAnAnswerWhenTheirTimeIsUp) {
  test::in_own_process({}, [] {
    asking_lane lane;
    for (int looks = 1; looks < 8; ++looks) EXPECT_FALSE(lane.look_after(patience_ns / 8)) << looks;
    EXPECT_TRUE(lane.look_after(patience_ns / 4));
    const auto letters = lane.box->take_all();
    ASSERT_EQ(letters.size(), 1u);
    EXPECT_FALSE(letters[0].answer.has_value());
  });
}

TEST(Questions, GiveNobodyUpForTheTimeInWhichThisProcessWasStopped) {
  test::in_own_process({}, [] {
    asking_lane lane;
    EXPECT_FALSE(lane.look_after(100 * patience_ns));
    EXPECT_FALSE(lane.look_after(patience_ns / 8));
  });
}

}  // namespace
}  // namespace heddle::transport::verbs
