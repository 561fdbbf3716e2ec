// SPDX-License-Identifier: BSD-3-Clause
// lifetime_test.cpp - handles that outlive their world: everything answers `closed`, nothing
// crashes, and peers learn of the end at once.
#include <gtest/gtest.h>
#include <heddle/heddle.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/engine_ways.h"
#include "support/ranks.h"

namespace heddle::test {
namespace {

class Lifetimes : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, Lifetimes, all_ways(), name_of_way);

/// A world of its own that a test can end when it wants.
std::unique_ptr<world> alone(const settings& config) {
  auto sessions = bootstrap::local_group(1);
  return std::make_unique<world>(engine::make_world(std::move(sessions.front()), config));
}

void expect_closed(lane& l) {
  std::array<std::byte, 8> data{};
  outcome found;
  counter ended;
  EXPECT_EQ(l.try_send(0, 1, data, ended), status::closed);
  EXPECT_EQ(l.send(0, 1, data), status::closed);
  EXPECT_EQ(l.try_recv(0, 1, data, ended), status::closed);
  EXPECT_EQ(l.recv(any_source, any_tag, data).code, status::closed);
  EXPECT_EQ(l.call(0, 1, {}, data), status::closed);
  EXPECT_EQ(l.try_probe(any_source, any_tag, found), status::closed);
  EXPECT_EQ(l.try_cancel(ended), status::closed);
  EXPECT_EQ(l.flush(), status::closed);
  EXPECT_EQ(l.flush(0), status::closed);
  EXPECT_EQ(l.try_flush(ended), status::closed);
  EXPECT_EQ(l.try_fence(0, ended), status::closed);
  constexpr std::chrono::minutes limit(1);
  EXPECT_EQ(l.recv_for(any_source, any_tag, data, limit).code, status::closed);
  matched_message m;
  EXPECT_EQ(l.match_for(0, 1, m, limit).code, status::closed);
  EXPECT_EQ(l.flush_for(limit), status::closed);
  EXPECT_EQ(l.fence_for(0, limit), status::closed);
  EXPECT_EQ(l.poll(), 0u);
  flag ready;
  l.when_ready(ready);
  EXPECT_TRUE(ready.ready());
  EXPECT_EQ(ready.result().code, status::closed);
  flag never;
  EXPECT_EQ(l.wait(never), status::closed);
  EXPECT_EQ(ended.count(), 0u);
}

TEST_P(Lifetimes, ALaneMayOutliveItsWorld) {
  auto w = alone(config());
  lane shared(*w), exclusive(*w, {.exclusive = true});
  std::byte data{1};
  EXPECT_EQ(shared.send(0, 1, {&data, 1}), status::done);
  w.reset();
  expect_closed(shared);
  expect_closed(exclusive);
  EXPECT_EQ(shared.self(), 0);
  EXPECT_EQ(shared.ranks(), 1);
}

TEST_P(Lifetimes, MembersMayBeDeclaredInAnyOrder) {
  struct lane_first {
    std::optional<lane> l;
    std::optional<symmetric<int>> table;
    std::optional<region> mine;
    std::unique_ptr<world> w;
  } all;
  all.w = alone(config());
  all.l.emplace(*all.w);
  all.table.emplace(all.w->symmetric<int>(8));
  all.mine.emplace(all.w->allocate(100));
  EXPECT_EQ(all.l->put(5, all.table->at(0, 3)), status::done);
}

TEST_P(Lifetimes, MemoryOutlivesItsWorldAndCannotBeReached) {
  auto w = alone(config());
  lane l(*w);
  auto table = w->symmetric<int>(8), untouched = w->symmetric<int>(8);
  region mine = w->allocate(64);
  const remote_region mine_again = w->import(mine.key());
  ASSERT_EQ(l.put(5, table.at(0, 3)), status::done);
  const remote_ptr<int> before = table.at(0, 3);
  w.reset();
  EXPECT_EQ(table.local()[3], 5);
  table.local()[3] = 7;
  int got = 1;
  std::array<std::byte, 4> bytes{};
  EXPECT_EQ(l.put(6, before), status::closed);
  EXPECT_EQ(l.get(got, table.at(0, 3)), status::closed);
  EXPECT_EQ(l.put(6, untouched.at(0, 3)), status::closed);
  EXPECT_EQ(l.fetch_add(before, 1, got), status::closed);
  EXPECT_EQ(l.put(bytes, mine_again.at(0)), status::closed);
  EXPECT_EQ(l.try_put_notify(bytes, mine_again.at(0), 1, 2), status::closed);
  EXPECT_EQ(table.local()[3], 7);
  EXPECT_EQ(got, 1);
  mine.memory()[0] = std::byte{1};
  mine.withdraw();
}

TEST_P(Lifetimes, WhatIsUnderWayEndsOnceAsClosed) {
  auto w = alone(config());
  lane l(*w);
  std::byte data{};
  counter ended;
  for (tag t = 0; t < 10; ++t) ASSERT_EQ(l.try_recv(0, t, {&data, 1}, ended), status::posted);
  w.reset();
  EXPECT_EQ(ended.count(), 10u);
  EXPECT_EQ(ended.first_failure(), status::closed);
  EXPECT_EQ(l.wait(ended, 10), status::closed);
}

// What a completion posts while the world ends is refused, also on a lane that has ended already.
TEST_P(Lifetimes, ACompletionOfTheEndMayPost) {
  auto w = alone(config());
  std::vector<std::unique_ptr<lane>> lanes;
  for (int i = 0; i < 3; ++i) lanes.push_back(std::make_unique<lane>(*w));
  std::atomic<int> closed = 0;
  std::byte data{};
  counter later;
  callback post([&](const outcome& what) {
    closed += what.code == status::closed;
    for (const auto& l : lanes) {
      const status s = l->try_recv(0, 9, {&data, 1}, later);
      EXPECT_TRUE(s == status::closed || s == status::posted) << name_of(s);
    }
  });
  ASSERT_EQ(lanes[1]->try_recv(0, 1, {&data, 1}, post), status::posted);
  w.reset();
  EXPECT_EQ(closed, 1);
  EXPECT_LE(later.count(), 2u);
  EXPECT_EQ(later.count() == 0 ? status::closed : later.first_failure(), status::closed);
}

TEST_P(Lifetimes, AReceiveWithALimitThatWaitsWhenTheWorldEndsIsClosed) {
  auto w = alone(config());
  auto l = std::make_unique<lane>(*w);
  std::atomic<bool> waits = false;
  std::atomic<status> answer = status::done;
  std::thread waiter([&] {
    std::byte data{};
    waits = true;
    answer.store(l->recv_for(0, 1, {&data, 1}, std::chrono::hours(1)).code);
  });
  while (!waits) std::this_thread::yield();
  w.reset();
  waiter.join();
  EXPECT_EQ(answer.load(), status::closed);
}

/// Of each peer that is lost, and why.
void remember(void* told, rank peer, std::string_view why) noexcept {
  *static_cast<std::string*>(told) += std::to_string(peer) + ": " + std::string(why);
}

// Although a lane and an array of rank 1 live on.
TEST_P(Lifetimes, APeerLearnsThatAWorldHasEnded) {
  auto sessions = bootstrap::local_group(2);
  std::barrier<> both(2);
  std::vector<std::thread> ranks;
  for (auto& session : sessions) {
    ranks.emplace_back([&, s = std::move(session)]() mutable {
      auto w = std::make_unique<world>(engine::make_world(std::move(s), config()));
      lane l(*w);
      const auto table = w->symmetric<int>(4);
      const rank other = 1 - w->rank();
      std::byte data{1};
      EXPECT_EQ(l.send(other, 1, {&data, 1}), status::done);
      EXPECT_EQ(l.recv(other, 1, {&data, 1}).code, status::done);
      if (w->rank() == 1) {
        w.reset();
        EXPECT_EQ(l.send(0, 1, {&data, 1}), status::closed);
        EXPECT_EQ(barrier(l), status::closed);
      } else {
        std::string told;
        w->on_peer_lost(remember, &told);
        EXPECT_EQ(l.recv(1, 2, {&data, 1}).code, status::peer_lost);
        EXPECT_NE(l.why(1), "");
        EXPECT_EQ(told, "1: " + l.why(1));
      }
      both.arrive_and_wait();
    });
  }
  for (std::thread& t : ranks) t.join();
}

std::size_t mapped_regions() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("heddle-region") != std::string::npos ? 1 : 0;
  return count;
}

TEST(Lifetime, OfMemoryThatWasSentFromEndsWithItsRegionAtTheReceiverToo) {
  run_ranks(2, settings_for("shm"), [](world& w) {
    constexpr int rounds = 20;
    lane l(w);
    std::vector<std::byte> got(1 << 20);
    for (int i = 0; i < rounds; ++i) {
      if (w.rank() == 0) {
        EXPECT_EQ(l.send(1, 1, w.allocate(got.size()).memory()), status::done);
      } else {
        EXPECT_EQ(l.recv(0, 1, got).code, status::done);
      }
      w.barrier();
    }
    EXPECT_LE(mapped_regions(), 2u);  // the last one, which no later message has pushed out
    w.barrier();
  });
}

TEST(LifetimeDeathTest, AWorldOfStaticStorageMayEndWithAReceivePosted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto return_from_main = [] {
    static flag ended;
    static std::array<std::byte, 8> into{};
    static std::optional<world> w(std::in_place);
    lane l(*w);
    if (l.try_recv(0, 1, into, ended) != status::posted) _exit(1);
    std::exit(0);
  };
  EXPECT_EXIT(return_from_main(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace heddle::test
