#include "sync/mpsc_ring.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "sync/hold.h"

namespace heddle::sync {
namespace {

TEST(MpscRing, RefusesWhenFullThenReusesTheFreedCell) {
  mpsc_ring<int> ring(4);
  for (int v = 0; v < 4; ++v) ASSERT_TRUE(ring.try_push(v));
  EXPECT_FALSE(ring.try_push(99));
  ASSERT_NE(ring.front(), nullptr);
  EXPECT_EQ(*ring.front(), 0);
  ring.pop();
  ASSERT_TRUE(ring.try_push(4));
  for (int want = 1; want <= 4; ++want) {
    ASSERT_NE(ring.front(), nullptr);
    EXPECT_EQ(*ring.front(), want);
    ring.pop();
  }
  EXPECT_EQ(ring.front(), nullptr);
  EXPECT_FALSE(ring.ready());
}

TEST(MpscRing, IsEmptyOnlyWhenNothingIsQueued) {
  mpsc_ring<int> ring(4);
  EXPECT_TRUE(ring.empty());
  ASSERT_TRUE(ring.try_push(1));
  EXPECT_FALSE(ring.empty());
  ring.pop();
  EXPECT_TRUE(ring.empty());
}

TEST(MpscRing, GoesOnWhenItsPositionsWrapAround) {
  mpsc_ring<int> ring(2, ~std::uint64_t{0} - 3);
  for (int v = 0; v < 20; ++v) {
    ASSERT_TRUE(ring.try_push(v));
    ASSERT_TRUE(ring.ready());
    ASSERT_EQ(*ring.front(), v);
    ring.pop();
  }
}

// Invariant I1: each accepted value comes out once, in the order its producer pushed it.
TEST(MpscRing, KeepsEachProducersOrderAndLosesNothing) {
  constexpr std::uint64_t producers = 3, values = 50'000;
  mpsc_ring<std::uint64_t> ring(8, ~std::uint64_t{0} - 1000);
  std::vector<std::thread> team;
  for (std::uint64_t p = 0; p < producers; ++p) {
    team.emplace_back([&, p] {
      for (std::uint64_t v = 0; v < values; ++v) {
        while (!ring.try_push(p << 32 | v)) std::this_thread::yield();
      }
    });
  }
  std::vector<std::uint64_t> next(producers);
  for (std::uint64_t taken = 0; taken < producers * values;) {
    const std::uint64_t* front = ring.front();
    if (front == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(*front & 0xffffffff, next[*front >> 32]++);
    ring.pop();
    ++taken;
  }
  for (auto& t : team) t.join();
}

// Invariant I3: with a hold and the two fences nothing is stranded, without any executor.
TEST(HoldAndRing, NoCommandIsStrandedWhenTheHolderLetsGo) {
  constexpr std::uint64_t threads = 3, rounds = 20'000;
  hold lane;
  mpsc_ring<std::uint64_t> commands(64);
  std::uint64_t executed = 0;  // holder only
  const auto release = [&] {
    do {
      while (commands.front() != nullptr) {
        commands.pop();
        ++executed;
      }
      lane.release();
      full_fence();
    } while (commands.ready() && lane.try_acquire());
  };
  std::vector<std::thread> team;
  for (std::uint64_t t = 0; t < threads; ++t) {
    team.emplace_back([&] {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        if (lane.try_acquire()) {
          ++executed;
          release();
          continue;
        }
        while (!commands.try_push(i)) std::this_thread::yield();
        full_fence();
        if (lane.try_acquire()) release();
      }
    });
  }
  for (auto& t : team) t.join();
  EXPECT_FALSE(commands.ready());
  EXPECT_EQ(executed, threads * rounds);
}

}  // namespace
}  // namespace heddle::sync
