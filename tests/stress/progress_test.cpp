// SPDX-License-Identifier: BSD-3-Clause
// progress_test.cpp - invariant I9: operations end although no program calls anything, and I14:
// what a lane learns of its program, and how long it spins, changes when things happen, never what.
#include <heddle/heddle.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

constexpr std::size_t large = 300'000;

TEST_P(Stress, I9LargeMessagesBothWaysEndWhileBothProgramsCompute) {
  if (!has_executors()) GTEST_SKIP() << "in this mode what nobody calls for waits";
  const auto rounds = static_cast<std::uint64_t>(amount(40, 4));
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    std::vector<std::byte> into(large);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const auto data = pattern(large, i);
      flag sent, received;
      ASSERT_EQ(l.try_recv(1 - w.rank(), 1, into, received), status::posted);
      const status s = l.try_send(1 - w.rank(), 1, data, sent);
      ASSERT_TRUE(accepted(s)) << name_of(s);
      // Computes: from here on nothing of Heddle's is called that could move anything.
      while (!received.ready() || (s == status::posted && !sent.ready())) std::this_thread::yield();
      ASSERT_EQ(received.result().code, status::done);
      ASSERT_TRUE(is_pattern(into, i)) << "round " << i;
    }
    w.barrier();
  });
}

TEST_P(Stress, I9LargeMessagesEndWhileTheSenderIsStopped) {
  if (!has_executors()) GTEST_SKIP() << "in this mode what nobody calls for waits";
  const auto rounds = static_cast<std::uint64_t>(amount(40, 4));
  std::atomic<std::uint64_t> taken = 0;
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    std::vector<std::byte> into(large);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      if (w.rank() == 1) {
        ASSERT_EQ(l.recv(0, 1, into).code, status::done);
        ASSERT_TRUE(is_pattern(into, i)) << "round " << i;
        taken.store(i + 1);
        taken.notify_all();
        continue;
      }
      const auto data = pattern(large, i);
      flag sent;
      const status s = l.try_send(1, 1, data, sent);
      ASSERT_TRUE(accepted(s)) << name_of(s);
      taken.wait(i);  // asleep, outside of Heddle, until the other one has it
      if (s == status::posted) {
        ASSERT_EQ(l.wait(sent), status::done);
      }
    }
    w.barrier();
  });
}

/// One program that waits at once after each transfer, and one that computes first: what the lane
/// believes of both is wrong half of the time. `alone`: nobody else moves its lane.
void exchange(lane& l, rank other, std::uint64_t rounds, bool alone) {
  std::vector<std::byte> into(large);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const auto data = pattern(i % 3 == 0 ? large : i, i);
    flag received;
    while (is_busy(l.try_recv(other, 1, into, received))) l.poll();
    ASSERT_EQ(l.send(other, 1, data), status::done);
    if (i / 8 % 2 == 0) {
      while (!received.ready() && !alone) std::this_thread::yield();
    }
    ASSERT_EQ(l.wait(received), status::done);
    ASSERT_TRUE(is_pattern(std::span(into).first(received.result().bytes), i)) << "round " << i;
  }
}

TEST_P(Stress, I14HowLongAWaitSpinsChangesNoResult) {
  const auto rounds = static_cast<std::uint64_t>(amount(60, 10));
  for (const std::uint64_t spin_us : {0u, 50u, 100'000u}) {
    settings s = config();
    s.spin_us = spin_us;
    run_ranks(2, s, [&](world& w) {
      lane l(w);
      w.barrier();
      exchange(l, 1 - w.rank(), rounds, !has_executors());
      w.barrier();
    });
  }
}

}  // namespace
}  // namespace heddle::test
