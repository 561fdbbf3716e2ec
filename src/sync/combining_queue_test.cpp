// SPDX-License-Identifier: BSD-3-Clause
#include "sync/combining_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace heddle::sync {
namespace {

using queue = combining_queue<std::uint64_t>;
using pushed = queue::pushed;

constexpr std::uint64_t wrap = std::uint64_t{1} << 63;  // of positions
constexpr std::size_t no_limit = 1 << 20;

std::vector<std::uint64_t> drained(queue& q, std::size_t limit = no_limit) {
  std::vector<std::uint64_t> values;
  (void)q.drain(limit, [&](std::uint64_t v) { values.push_back(v); });
  return values;
}

TEST(CombiningQueue, LetsOneHold) {
  queue q(4);
  ASSERT_TRUE(q.try_hold());
  EXPECT_FALSE(q.try_hold());
  EXPECT_TRUE(q.held());
  EXPECT_TRUE(q.release());
  EXPECT_FALSE(q.held());
  EXPECT_TRUE(q.try_hold());
}

TEST(CombiningQueue, APushMakesItsProducerTheHolderWhenThereIsNone) {
  queue q(4);
  EXPECT_EQ(q.push(7), pushed::held);
  EXPECT_EQ(q.push(8), pushed::queued);
  EXPECT_EQ(drained(q), (std::vector<std::uint64_t>{7, 8}));
  EXPECT_TRUE(q.release());
}

// Invariant I1: full is an answer, and true.
TEST(CombiningQueue, I1RefusesWhenFullAndOnlyThen) {
  queue q(4);
  ASSERT_TRUE(q.try_hold());
  for (std::uint64_t v = 0; v < 4; ++v) ASSERT_EQ(q.push(v), pushed::queued);
  EXPECT_EQ(q.push(99), pushed::full);
  EXPECT_EQ(drained(q, 1), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(q.push(4), pushed::queued);
  EXPECT_EQ(q.push(99), pushed::full);
  EXPECT_EQ(drained(q), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_FALSE(q.pending());
}

TEST(CombiningQueue, AReleaseWithSomethingQueuedKeepsTheHold) {
  queue q(4);
  ASSERT_TRUE(q.try_hold());
  ASSERT_EQ(q.push(1), pushed::queued);
  EXPECT_FALSE(q.release());
  EXPECT_TRUE(q.held());
  EXPECT_EQ(drained(q).size(), 1u);
  EXPECT_TRUE(q.release());
}

TEST(CombiningQueue, LettingGoLeavesWhatIsQueuedToTheNextHolder) {
  queue q(4);
  ASSERT_TRUE(q.try_hold());
  ASSERT_EQ(q.push(1), pushed::queued);
  q.let_go();
  ASSERT_TRUE(q.try_hold());
  EXPECT_TRUE(q.pending());
  EXPECT_EQ(drained(q).size(), 1u);
}

// Invariant I16: nobody is made to work for the others for ever.
TEST(CombiningQueue, I16StopsAtTheLimitAndSaysSo) {
  queue q(4);
  ASSERT_TRUE(q.try_hold());
  for (std::uint64_t v = 0; v < 3; ++v) ASSERT_EQ(q.push(v), pushed::queued);
  std::uint64_t last = 0;
  const auto take = [&](std::uint64_t v) { last = v; };
  EXPECT_FALSE(q.drain(2, take));
  EXPECT_EQ(last, 1u);
  EXPECT_TRUE(q.drain(2, take));
  EXPECT_EQ(last, 2u);
}

TEST(CombiningQueue, TakesARowUpToTheLimitInOrder) {
  queue q(4, wrap - 2);
  ASSERT_TRUE(q.try_hold());
  EXPECT_FALSE(q.next_is_there());
  for (std::uint64_t v = 0; v < 3; ++v) ASSERT_EQ(q.push(v), pushed::queued);
  std::vector<std::uint64_t> values;
  const auto take = [&](std::uint64_t v) { values.push_back(v); };
  ASSERT_TRUE(q.next_is_there());
  q.take_row(2, take);
  EXPECT_EQ(values, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_TRUE(q.pending());
  q.take_row(2, take);
  EXPECT_EQ(values, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_FALSE(q.next_is_there());
  EXPECT_TRUE(q.release());
}

// Invariant I1: with the least of rings, from near the wrap.
TEST(CombiningQueue, I1GoesOnWhenItsPositionsWrapAround) {
  queue q(2, wrap - 3);
  ASSERT_TRUE(q.try_hold());
  for (std::uint64_t v = 0; v < 10; ++v) {
    ASSERT_EQ(q.push(2 * v), pushed::queued);
    ASSERT_EQ(q.push(2 * v + 1), pushed::queued);
    ASSERT_EQ(q.push(99), pushed::full);
    ASSERT_EQ(drained(q), (std::vector<std::uint64_t>{2 * v, 2 * v + 1}));
  }
  EXPECT_TRUE(q.release());
}

// Invariants I1 and I3: each accepted value is taken once, in the order its producer pushed it, and
// nothing is left behind, without any thread that looks after the queue. Counters start near wrap.
void everyone_executes(std::size_t capacity, std::uint64_t threads, std::uint64_t rounds) {
  queue q(capacity, wrap - 1000);
  std::vector<std::uint64_t> next(threads);  // holder only
  std::uint64_t out_of_order = 0;            // holder only
  const auto execute = [&](std::uint64_t v) {
    if (next[v >> 32]++ != (v & 0xffffffff)) ++out_of_order;
  };
  const auto release = [&] {
    do {
      (void)q.drain(no_limit, execute);
    } while (!q.release());
  };
  std::vector<std::thread> team;
  for (std::uint64_t t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const std::uint64_t v = t << 32 | i;
        if (q.try_hold()) {
          (void)q.drain(no_limit, execute);
          execute(v);
          release();
          continue;
        }
        pushed how = q.push(v);
        for (; how == pushed::full; how = q.push(v)) std::this_thread::yield();
        if (how == pushed::held) release();
      }
    });
  }
  for (auto& t : team) t.join();
  EXPECT_EQ(out_of_order, 0u);
  for (const std::uint64_t count : next) EXPECT_EQ(count, rounds);
  EXPECT_FALSE(q.held());
  EXPECT_FALSE(q.pending());
}

TEST(CombiningQueue, I1I3StrandsNothingAndKeepsEachThreadsOrder) {
  everyone_executes(64, 3, 50'000);
}

TEST(CombiningQueue, I1I3StrandsNothingWhenItIsMostlyFull) {
  everyone_executes(2, 4, 20'000);
  everyone_executes(4, 4, 20'000);
}

// Invariant I1, the other half: `full` only when as many are outstanding as there are cells. Two
// threads that each wait for their value to be taken can never fill four (a cell is free again at
// the latest when the one after it was taken), over many laps.
TEST(CombiningQueue, I1IsNeverFullWithFewerValuesThanCells) {
  queue q(4, wrap - 1000);
  std::array<std::atomic<std::uint64_t>, 2> taken{}, pushing{};  // odd: inside
  std::atomic<std::uint64_t> refused = 0;
  const auto take = [&](std::uint64_t v) { taken[v].fetch_add(1, std::memory_order_relaxed); };
  const auto release = [&] {
    do {
      (void)q.drain(no_limit, take);
    } while (!q.release());
  };
  std::vector<std::thread> team;
  for (std::uint64_t t = 0; t < 2; ++t) {
    team.emplace_back([&, t] {
      const auto push = [&] {
        pushing[t].fetch_add(1);
        const pushed how = q.push(t);
        if (how == pushed::held) release();
        pushing[t].fetch_add(1);
        return how;
      };
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        for (;;) {
          const std::uint64_t before = pushing[1 - t].load();
          if (push() != pushed::full) break;
          // True behind a claim of the other one, who was stopped before publishing it.
          if (before % 2 == 0 && pushing[1 - t].load() == before) refused.fetch_add(1);
          std::this_thread::yield();
        }
        while (taken[t].load() <= i) {
          if (q.try_hold()) release();
        }
      }
    });
  }
  for (auto& t : team) t.join();
  EXPECT_EQ(refused.load(), 0u);
}

}  // namespace
}  // namespace heddle::sync
