// SPDX-License-Identifier: BSD-3-Clause
// limits_test.cpp - receives that wait no longer than they are told: what has not come in time is
// as if it had never been asked for, and no message is lost.
#include <gtest/gtest.h>
#include <heddle/blocks.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

class Limits : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, Limits, all_ways(), name_of_way);

constexpr std::byte untouched{0x5a};

TEST_P(Limits, AReceiveThatTimedOutTakesNoLaterMessage) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    const rank peer = 1 - w.rank();
    std::vector<std::byte> early(100, untouched), into(100);
    const std::array<std::span<std::byte>, 1> blocks{early};
    matched_message m;
    for (const nanoseconds limit : {nanoseconds(-5), nanoseconds(0), nanoseconds(1'000'000)}) {
      const outcome what = l.recv_for(peer, 5, early, limit);
      EXPECT_EQ(what.code, status::timed_out);
      EXPECT_EQ(what.peer, peer);
      EXPECT_EQ(l.recv_for(any_source, any_tag, early, limit).code, status::timed_out);
      EXPECT_EQ(recv_blocks_for(l, peer, 5, blocks, limit).code, status::timed_out);
      EXPECT_EQ(l.match_for(peer, 5, m, limit).code, status::timed_out);
    }
    EXPECT_FALSE(m.holds());
    w.barrier();
    const auto data = pattern(100, 8);
    EXPECT_EQ(l.send(peer, 5, data), status::done);
    EXPECT_EQ(l.recv(peer, 5, into).bytes, 100u);
    EXPECT_TRUE(is_pattern(into, 8));
    EXPECT_TRUE(std::ranges::all_of(early, [](std::byte b) { return b == untouched; }));
    w.barrier();
  });
}

TEST_P(Limits, WhatIsWrongIsToldAtOnce) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    std::vector<std::byte> into(8);
    matched_message m;
    EXPECT_EQ(l.recv_for(0, max_tag + 1, into, 60s).code, status::invalid);
    EXPECT_EQ(l.recv_for(2, 1, into, 60s).code, status::invalid);
    EXPECT_EQ(l.match_for(2, 1, m, 60s).code, status::invalid);
    EXPECT_EQ(l.flush_for(2, 60s), status::invalid);
    w.barrier();
  });
}

/// Messages of all sizes, the last bytes of which are looked at as well.
std::size_t size_of(int number) {
  constexpr std::array<std::size_t, 5> sizes{8, 200, 5'000, 40'000, 300'000};
  return sizes[static_cast<std::size_t>(number) % sizes.size()];
}
/// From none to what some messages take, so that limits pass at every point of a message's way.
nanoseconds limit_of(int attempt) {
  return nanoseconds(1000 * ((attempt * 37) % 400));
}

/// Receives message `number` in one of the forms that have a limit: false when it passed.
bool receive_within(lane& l, rank peer, int number, nanoseconds limit,
                    std::vector<std::byte>& into) {
  outcome what;
  if (number % 3 == 0) {
    what = l.recv_for(peer, 6, into, limit);
  } else if (number % 3 == 1) {
    matched_message m;
    what = l.match_for(any_source, 6, m, limit);
    if (what.code == status::done) what = l.recv(m, into);
  } else {
    const std::array<std::span<std::byte>, 2> blocks{std::span(into).first(3),
                                                     std::span(into).subspan(3)};
    what = recv_blocks_for(l, peer, 6, blocks, limit);
  }
  if (what.code == status::timed_out) return false;
  EXPECT_EQ(what.code, status::done) << name_of(what.code);
  EXPECT_EQ(what.bytes, size_of(number));
  return true;
}

TEST_P(Limits, NoMessageIsLostAndTheirOrderStaysHoweverShortTheLimits) {
  const int messages = scaled(300, 40);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    const rank peer = 1 - w.rank();
    std::thread sender([&] {
      for (int i = 0; i < messages; ++i) {
        if (i % 20 == 0) std::this_thread::sleep_for(1ms);
        const auto data = pattern(size_of(i), static_cast<std::uint64_t>(i));
        EXPECT_EQ(l.send(peer, 6, data), status::done);
      }
    });
    int attempts = 0;
    for (int i = 0; i < messages; ++i) {
      std::vector<std::byte> into(size_of(i));
      while (!receive_within(l, peer, i, limit_of(attempts++), into)) {
      }
      ASSERT_TRUE(is_pattern(into, static_cast<std::uint64_t>(i))) << i;
    }
    sender.join();
    w.barrier();
  });
}

TEST_P(Limits, AQueueIsWaitedForNoLonger) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    completion_queue queue(2);
    std::byte in{}, out{7};
    EXPECT_FALSE(l.wait_for(queue, 1, 0ns));
    status s = l.try_recv(1 - w.rank(), 3, {&in, 1}, queue.with(4));
    for (; is_busy(s); s = l.try_recv(1 - w.rank(), 3, {&in, 1}, queue.with(4))) l.poll();
    EXPECT_EQ(s, status::posted);
    EXPECT_FALSE(l.wait_for(queue, 1, 1ms));
    w.barrier();
    EXPECT_EQ(l.send(1 - w.rank(), 3, {&out, 1}), status::done);
    EXPECT_TRUE(l.wait_for(queue, 1, 60s));
    EXPECT_EQ(in, out);
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
