// SPDX-License-Identifier: BSD-3-Clause
// wake_test.cpp - invariant I2: no wake-up is lost. Nobody spins before a sleep and the backstop,
// by which a sleeper would look by itself, is off: a lost wake-up leaves its test hanging.
#include <heddle/heddle.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

settings without_backstop(settings s) {
  s.spin_us = 0;
  s.backstop_ms = 0;
  s.peer_timeout_ms = 3'600'000;  // else the look for dead peers would stand in for it
  return s;
}

/// Nothing, a moment, a time slice or a nap: so that each side is met at every point of its way
/// into sleep.
void pause_a_while(std::minstd_rand& random) {
  switch (random() % 8) {
    case 0:
      std::this_thread::yield();
      break;
    case 1:
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
      break;
    case 2:
    case 3:
      for (auto i = random() % 2000; i != 0; --i)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      break;
    default:
      break;
  }
}

/// Each side sleeps until the other's message is there.
void ping_pong(lane& l, rank other, tag t, int rounds, unsigned seed) {
  std::minstd_rand random(seed);
  for (int i = 0; i < rounds; ++i) {
    std::uint64_t value = 0;
    const auto number = static_cast<std::uint64_t>(i);
    if (l.self() < other) {
      pause_a_while(random);
      ASSERT_EQ(l.send(other, t, std::as_bytes(std::span(&number, 1))), status::done);
    }
    ASSERT_EQ(l.recv(other, t, std::as_writable_bytes(std::span(&value, 1))).code, status::done);
    ASSERT_EQ(value, number);
    if (l.self() > other) {
      pause_a_while(random);
      ASSERT_EQ(l.send(other, t, std::as_bytes(std::span(&number, 1))), status::done);
    }
  }
}

TEST_P(Stress, I2EveryMessageWakesTheThreadThatSleepsForIt) {
  const int rounds = amount(4000, 200);
  run_ranks(2, without_backstop(config()), [&](world& w) {
    lane l(w);
    w.barrier();
    ping_pong(l, 1 - w.rank(), 1, rounds, static_cast<unsigned>(w.rank()) + 1);
    w.barrier();
  });
}

TEST_P(Stress, I2ThreadsThatShareALaneWakeEachOther) {
  constexpr int threads = 3;
  const int rounds = amount(1500, 100);
  run_ranks(2, without_backstop(config()), [&](world& w) {
    lane l(w);
    w.barrier();
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t)
      team.emplace_back([&, t] {
        ping_pong(l, 1 - w.rank(), static_cast<tag>(t), rounds,
                  static_cast<unsigned>(w.rank() * threads + t) + 1);
      });
    for (std::thread& t : team) t.join();
    w.barrier();
  });
}

// The one who polls takes away what the one who sleeps relies on, and does not come back.
TEST_P(Stress, I2AThreadIsWokenThoughAnotherPolledItsLaneMeanwhile) {
  const int rounds = amount(20, 4);
  run_ranks(2, without_backstop(config()), [&](world& w) {
    lane l(w);
    w.barrier();
    for (int i = 0; i < rounds; ++i) {
      if (w.rank() == 0) {
        ASSERT_EQ(l.recv(1, 2, {}).code, status::done);
        ASSERT_EQ(l.send(1, 1, {}), status::done);
        continue;
      }
      std::thread sleeper([&] { ASSERT_EQ(l.recv(0, 1, {}).code, status::done); });
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // it should be asleep by now
      l.poll();
      ASSERT_EQ(l.send(0, 2, {}), status::done);
      sleeper.join();
    }
    w.barrier();
  });
}

// There is no news on the lane: nothing but the counter can wake them.
TEST_P(Stress, I2EveryThreadThatSleepsForOneCounterIsWoken) {
  const int rounds = amount(20, 4);
  run_ranks(1, without_backstop(config()), [&](world& w) {
    lane l(w);
    for (const int sleepers : {2, 8}) {
      counter done;
      std::vector<std::thread> team;
      for (int t = 0; t < sleepers; ++t)
        team.emplace_back([&] {
          for (int i = 1; i <= rounds; ++i)
            ASSERT_EQ(l.wait(done, static_cast<std::uint64_t>(i)), status::done);
        });
      for (int i = 0; i < rounds; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // they should be asleep by now
        (void)done.track(status::done);
      }
      for (std::thread& t : team) t.join();
    }
  });
}

/// Until another thread has counted to `target`.
void wait_for(const std::atomic<int>& count, int target) {
  for (int now = count.load(std::memory_order_acquire); now < target;  // pairs with count_up()
       now = count.load(std::memory_order_acquire))
    count.wait(now, std::memory_order_acquire);
}
void count_up(std::atomic<int>& count) {
  count.fetch_add(1, std::memory_order_release);  // pairs with wait_for()
  count.notify_all();
}

// The idle hook takes away what the executor relies on, and does not come back.
TEST_P(Stress, I2TheExecutorIsWokenThoughTheIdleHookPolledItsLaneMeanwhile) {
  if (!has_executors()) GTEST_SKIP() << "there is no executor in this mode";
  const int rounds = amount(20, 4);
  constexpr handler_id here = 5;
  std::atomic<int> hooked{0}, caught{0};
  run_ranks(2, without_backstop(config()), [&](world& w) {
    w.set_handler(
        here,
        [](void* to, lane&, const call_message&) noexcept {
          count_up(*static_cast<std::atomic<int>*>(to));
        },
        &caught);
    lane l(w);
    w.barrier();
    for (int i = 1; i <= rounds; ++i) {
      if (w.rank() == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // it should rest by now
        w.idle_hook();
        count_up(hooked);
      } else {
        wait_for(hooked, i);
        while (is_busy(l.try_call(1, here, {}, {}))) std::this_thread::yield();
      }
      wait_for(caught, i);
    }
    w.barrier();
  });
}

/// A ball that handlers throw back and forth, with no help of the program: each message has to wake
/// the executor of its rank out of a sleep without end.
struct player {
  int rounds;
  std::minstd_rand random;
  std::uint64_t thrown = 0;  // Heddle's until the ball has left, and then it has to come back first
  std::atomic<std::uint64_t> caught{0};

  static constexpr handler_id ball = 4;
  static void hit(void* context, lane& here, const call_message& m) noexcept {
    auto& self = *static_cast<player*>(context);
    std::uint64_t number = 0;
    std::memcpy(&number, m.header.data(), sizeof number);
    if (++number < static_cast<std::uint64_t>(2 * self.rounds)) self.serve(here, m.source, number);
    self.caught.fetch_add(1, std::memory_order_release);  // pairs with the wait's load
    self.caught.notify_all();
  }
  void serve(lane& here, rank to, std::uint64_t number) noexcept {
    pause_a_while(random);
    thrown = number;
    while (is_busy(here.try_call(to, ball, std::as_bytes(std::span(&thrown, 1)), {})))
      std::this_thread::yield();
  }
  void wait_for_all() {
    for (std::uint64_t now = 0; now < static_cast<std::uint64_t>(rounds);
         now = caught.load(std::memory_order_acquire))
      caught.wait(now, std::memory_order_acquire);
  }
};

TEST_P(Stress, I2EveryCallWakesTheExecutorThatSleepsForIt) {
  if (!has_executors()) GTEST_SKIP() << "there is no executor in this mode";
  const int rounds = amount(4000, 200);
  std::vector<std::unique_ptr<player>> players;
  for (unsigned r = 0; r < 2; ++r)
    players.push_back(std::make_unique<player>(rounds, std::minstd_rand(r + 1)));
  run_ranks(2, without_backstop(config()), [&](world& w) {
    player& me = *players[static_cast<std::size_t>(w.rank())];
    w.set_handler(player::ball, player::hit, &me);
    lane l(w);
    w.barrier();
    if (w.rank() == 0) me.serve(l, 1, 0);
    me.wait_for_all();
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
