// SPDX-License-Identifier: BSD-3-Clause
// The ring alone: claims, laps, and claimants that die.
#include "mrq_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

using namespace tofu;

namespace {

constexpr std::uint32_t stamp = 5;
const auto everybody_lives = [](std::uint32_t) { return true; };
const auto nobody_lives = [](std::uint32_t) { return false; };

struct ring {
  explicit ring(std::uint64_t slots)
      : slots_(new mrq_slot[slots]()),
        producer(control_, slots_.get(), slots, stamp),
        consumer(slots_.get(), slots) {}
  bool push(std::uint64_t value) {
    mrq_message m;
    m.rmt_value = value;
    return producer.try_push(m);
  }
  mrq_control control_{};
  std::unique_ptr<mrq_slot[]> slots_;
  mrq_producer producer;
  mrq_consumer consumer;
};

TEST(MrqRing, IsFullWhenEverySlotIsAndThenReusesTheFreedOne) {
  ring r(4);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(r.push(i));
  EXPECT_FALSE(r.push(99));
  ASSERT_EQ(r.consumer.peek(everybody_lives)->rmt_value, 0u);
  r.consumer.pop();
  EXPECT_TRUE(r.push(4));
  for (std::uint64_t want = 1; want <= 4; ++want) {
    ASSERT_EQ(r.consumer.peek(everybody_lives)->rmt_value, want);
    r.consumer.pop();
  }
  EXPECT_EQ(r.consumer.peek(everybody_lives), nullptr);
}

TEST(MrqRing, AHintFromLongAgoCostsNoEntry) {
  ring r(4);
  for (std::uint64_t i = 0; i < 11; ++i) {
    r.control_.tail.store(0);
    ASSERT_TRUE(r.push(i));
    ASSERT_EQ(r.consumer.peek(everybody_lives)->rmt_value, i);
    r.consumer.pop();
  }
}

TEST(MrqRing, WaitsForALivingClaimantAndPassesOverADeadOne) {
  ring r(4);
  ASSERT_TRUE(r.push(0));
  r.slots_[1].turn.store(turn::of(0, 77));  // claimed, never published
  ASSERT_TRUE(r.push(2));
  r.consumer.pop();
  EXPECT_EQ(r.consumer.peek(everybody_lives), nullptr);
  const mrq_message* const next = r.consumer.peek(nobody_lives);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->rmt_value, 2u);
  r.consumer.pop();
  for (std::uint64_t i = 3; i < 7; ++i) EXPECT_TRUE(r.push(i)) << "all four slots are free again";
  EXPECT_FALSE(r.push(7));
}

TEST(MrqRing, ManyProducersLoseNothingAndKeepTheirOrder) {
  constexpr std::uint64_t producers = 3, each = 20000;
  ring r(64);
  std::vector<std::thread> threads;
  for (std::uint64_t p = 0; p < producers; ++p) {
    threads.emplace_back([&r, p] {
      for (std::uint64_t i = 0; i < each; ++i) {
        while (!r.push(p << 32 | i)) std::this_thread::yield();
      }
    });
  }
  std::vector<std::uint64_t> next(producers, 0);
  for (std::uint64_t got = 0; got < producers * each;) {
    const mrq_message* const m = r.consumer.peek(everybody_lives);
    if (m == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(m->rmt_value & 0xffff'ffff, next[m->rmt_value >> 32]++);
    r.consumer.pop();
    ++got;
  }
  for (std::thread& one : threads) one.join();
}

}  // namespace
