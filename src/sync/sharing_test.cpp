// SPDX-License-Identifier: BSD-3-Clause
// sharing_test.cpp - the small shared words: sleep_word, board, shared_region, signal.
#include <gtest/gtest.h>
#include <heddle/detail/signal.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/scale.h"
#include "sync/board.h"
#include "sync/release_acquire.h"
#include "sync/shared_region.h"
#include "sync/sleep_word.h"
#include "sync/this_thread.h"
#include "sync/waker.h"

namespace heddle::sync {
namespace {

TEST(ThisThread, HasANameOfItsOwn) {
  const void* other = nullptr;
  std::thread([&] { other = this_thread(); }).join();
  EXPECT_NE(other, this_thread());
  EXPECT_EQ(this_thread(), this_thread());
}

TEST(SleepWord, IsWokenByExactlyOne) {
  sleep_word word;
  EXPECT_FALSE(word.should_wake(glance::cheap));
  word.mark_asleep();
  EXPECT_TRUE(word.should_wake(glance::cheap));
  EXPECT_FALSE(word.should_wake(glance::full));
  EXPECT_TRUE(word.mark_awake());
  word.mark_asleep();
  EXPECT_FALSE(word.mark_awake());
  EXPECT_FALSE(word.should_wake(glance::full));
}

/// A sleeper and a waker that play `rounds` rounds; a wake-up that gets lost ends the game.
int lost_wakes(glance how, int rounds) {
  sleep_word word;
  release_acquire<int> work{0}, bell{0}, seen{0};
  std::thread waker([&] {
    for (int i = 1; i <= rounds; ++i) {
      while (seen.get() != i - 1) std::this_thread::yield();
      work.set(i);
      if (word.should_wake(how)) bell.set(bell.get() + 1);
    }
  });
  int lost = 0;
  for (int i = 1; i <= rounds; ++i) {
    const int rung = bell.get();
    word.mark_asleep();
    heavy_barrier();
    if (work.get() != i) {
      while (work.get() != i) std::this_thread::yield();
      // The work came after the sleeper looked: the waker must have noticed, or be about to.
      for (int wait = 0; bell.get() == rung && wait < 1'000'000; ++wait) std::this_thread::yield();
      lost += bell.get() == rung;
    }
    word.mark_awake();
    seen.set(i);
  }
  waker.join();
  return lost;
}

// Invariant I2: no wake-up is lost.
TEST(SleepWord, I2LosesNoWakeUpWithReadModifyWrites) {
  EXPECT_EQ(lost_wakes(glance::full, test::scaled(20'000)), 0);
}

TEST(SleepWord, I2LosesNoWakeUpWithTheKernelsBarrier) {
  if (!enable_asymmetric()) GTEST_SKIP() << "this kernel has no expedited membarrier";
  EXPECT_EQ(lost_wakes(glance::cheap, test::scaled(20'000)), 0);
}

TEST(Board, TellsWhatWasAppendedInOrderAndRefusesWhenFull) {
  board<3> b{};
  EXPECT_EQ(b.at(0), 0u);
  EXPECT_TRUE(b.append(7));
  EXPECT_TRUE(b.append(8));
  EXPECT_TRUE(b.append(9));
  EXPECT_FALSE(b.append(10));
  EXPECT_EQ(b.at(0), 7u);
  EXPECT_EQ(b.at(2), 9u);
  EXPECT_EQ(b.at(3), 0u);
}

TEST(Board, KeepsEveryEntryOfSeveralThreads) {
  auto b = std::make_unique<board<400>>();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&b, t] {
      for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(b->append(1 + t * 100 + i));
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<bool> found(401);
  for (std::size_t i = 0; i < 400; ++i) found.at(b->at(i)) = true;
  EXPECT_EQ(std::count(found.begin() + 1, found.end(), true), 400);
}

TEST(SharedRegion, LetsPeersInOnlyUnderItsGeneration) {
  shared_region slot;
  region_facts facts;
  EXPECT_FALSE(slot.try_enter(0, facts));
  slot.publish(5, {0x1000, 64, rights::read, 3});
  EXPECT_FALSE(slot.try_enter(4, facts));
  ASSERT_TRUE(slot.try_enter(5, facts));
  EXPECT_EQ(facts.address, 0x1000u);
  EXPECT_EQ(facts.bytes, 64u);
  EXPECT_EQ(facts.memfd, 3);
  EXPECT_TRUE(slot.live().is(5));
  slot.close();
  EXPECT_FALSE(slot.live().is(5));
  EXPECT_FALSE(slot.quiet());
  EXPECT_FALSE(slot.try_enter(5, facts));
  EXPECT_FALSE(slot.leave(5));
  EXPECT_TRUE(slot.quiet());
}

TEST(SharedRegion, TellsAUserThatLeavesWhetherTheRegionWasStillThere) {
  shared_region slot;
  region_facts facts;
  slot.publish(5, {});
  ASSERT_TRUE(slot.try_enter(5, facts));
  EXPECT_TRUE(slot.leave(5));
  ASSERT_TRUE(slot.try_enter(5, facts));
  slot.close();
  EXPECT_FALSE(slot.leave(5));
}

TEST(SharedRegion, ForgetsAUserThatNeverLeftWhenItIsPublishedAnew) {
  shared_region slot;
  region_facts facts;
  slot.publish(1, {});
  ASSERT_TRUE(slot.try_enter(1, facts));
  slot.close();
  slot.clear();
  slot.publish(2, {});
  EXPECT_FALSE(slot.leave(1));  // late: must not count
  ASSERT_TRUE(slot.try_enter(2, facts));
  EXPECT_TRUE(slot.leave(2));
  EXPECT_FALSE(slot.leave(2));  // one too many: must not go below none
  slot.close();
  EXPECT_TRUE(slot.quiet());
}

/// Raises `s` until a sleeper for `target` has been woken at it, as a wait would sleep. The wakes.
int wakes_until(detail::signal& s, std::uint64_t target) {
  const thread_waker& waker = thread_waker::mine();
  int wakes = 0;
  while (s.watch(waker.id(), target) < target) {
    eventfd_t rung = 0;
    while (s.count() < target && eventfd_read(waker.fd(), &rung) != 0) s.raise();
    if (rung == 0 && eventfd_read(waker.fd(), &rung) != 0) return -1;  // there, and not woken
    ++wakes;
  }
  s.unwatch(waker.id());
  return wakes;
}

TEST(Signal, WakesASleeperForManyNowAndThenAndAtItsTarget) {
  for (const std::uint64_t already : {0, 1, 7, 4095}) {
    for (const std::uint64_t more : {1, 2, 5, 16, 1000, 16384}) {
      detail::signal s;
      s.raise(already);
      const int wakes = wakes_until(s, already + more);
      EXPECT_GE(wakes, 1) << already << " and " << more;
      EXPECT_LE(wakes, 30) << already << " and " << more;
    }
  }
}

TEST(Signal, WakesASleeperForAWholeGroupOnce) {
  detail::signal s;
  for (std::uint64_t group = 1; group < 20; ++group) EXPECT_EQ(wakes_until(s, 16 * group), 1);
}

// A world that ends there may still wait, and must not take the wakes of another thread.
TEST(ThreadWaker, IsNoOtherThreadsBehindTheThreadsOwnObjects) {
  static std::atomic<bool> differ{false};
  struct ending {
    ~ending() {
      const std::uint16_t mine = thread_waker::mine().id();
      const thread_waker of_another;
      differ = mine != of_another.id();
    }
  };
  std::thread([] {
    static thread_local const ending last;
    (void)last;
    (void)thread_waker::mine();
  }).join();
  EXPECT_TRUE(differ);
}

bool rung(const thread_waker& w) {
  eventfd_t wakes = 0;
  return eventfd_read(w.fd(), &wakes) == 0;
}

TEST(Signal, WakesEachOfSeveralThatSleepOnItAndNoOther) {
  const thread_waker first, second, third, elsewhere;
  detail::signal s, other;
  for (const thread_waker* w : {&first, &second, &third}) s.watch(w->id(), 1);
  other.watch(elsewhere.id(), 1);
  s.raise();
  EXPECT_TRUE(rung(first));
  EXPECT_TRUE(rung(second));
  EXPECT_TRUE(rung(third));
  EXPECT_FALSE(rung(elsewhere));
}

TEST(Signal, WakesAtTheTargetOfEachThatSleepsOnIt) {
  const thread_waker soon, late;
  detail::signal s;
  s.watch(late.id(), 64);
  s.watch(soon.id(), 3);
  s.raise(3);
  EXPECT_TRUE(rung(soon));
  s.unwatch(soon.id());
  (void)rung(late);
  s.raise(61);
  EXPECT_TRUE(rung(late));
}

TEST(Signal, WakesWhoStaysWhenAnotherLeavesAndNobodyWhenAllHaveLeft) {
  const thread_waker first, second;
  detail::signal s;
  for (const bool first_leaves : {true, false}) {
    const thread_waker& leaves = first_leaves ? first : second;
    const thread_waker& stays = first_leaves ? second : first;
    s.watch(first.id(), s.count() + 1);
    s.watch(second.id(), s.count() + 1);
    s.unwatch(leaves.id());
    s.raise();
    EXPECT_FALSE(rung(leaves));
    EXPECT_TRUE(rung(stays));
    s.unwatch(stays.id());
    s.raise();
    EXPECT_FALSE(rung(stays));
  }
}

// One that has no descriptor looks by itself.
TEST(Signal, KeepsASleeperWhenOneComesThatNobodyCanWake) {
  const thread_waker known;
  detail::signal s;
  s.watch(known.id(), 1);
  s.watch(0, 1);
  s.unwatch(0);
  s.raise();
  EXPECT_TRUE(rung(known));
}

// The end of one's sleep falls into the beginning of the other's: nobody may be forgotten.
TEST(Signal, WakesThreadsThatComeAndGoBesideEachOther) {
  constexpr std::uint64_t rounds = 2000;
  constexpr int sleepers = 3;
  detail::signal s;
  std::atomic<std::uint64_t> there{0};
  std::vector<std::thread> team;
  for (int i = 0; i < sleepers; ++i)
    team.emplace_back([&] {
      const thread_waker& waker = thread_waker::mine();
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        while (s.watch(waker.id(), round) < round) {
          pollfd wake{waker.fd(), POLLIN, 0};
          poll(&wake, 1, -1);
          s.unwatch(waker.id());
          waker.clear();
        }
        s.unwatch(waker.id());
        ++there;
      }
    });
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    s.raise();
    while (there < round * sleepers) std::this_thread::yield();
  }
  for (std::thread& t : team) t.join();
  EXPECT_EQ(s.count(), rounds);
}

}  // namespace
}  // namespace heddle::sync
