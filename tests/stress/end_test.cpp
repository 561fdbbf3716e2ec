// SPDX-License-Identifier: BSD-3-Clause
// end_test.cpp - worlds that end under load, at any time (I8), and callbacks that never end (I15).
#include <heddle/heddle.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

TEST_P(Stress, I8EndingAWorldAtAnyTimeEndsEveryOperationOnce) {
  const int rounds = amount(45, 6);
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> posted = 0, ended = 0;
    std::vector<std::byte> into(4096);
    settings config = Stress::config();
    config.linger_ms = 20;
    const auto data = pattern(300'000, 1);
    const auto count = [](void* owner, std::uint64_t, const outcome&) noexcept {
      static_cast<std::atomic<int>*>(owner)->fetch_add(1, std::memory_order_relaxed);
    };
    run_ranks(2, config, [&](world& w) {
      lane l(w);
      w.barrier();
      std::minstd_rand random(static_cast<unsigned>(round * 2 + w.rank()));
      for (auto i = random() % 100; i != 0; --i) {
        const bool receives = random() % 2 == 0;
        const status s = receives ? l.try_recv(any_source, 77, into, {count, &ended, 0})
                                  : l.try_send(1 - w.rank(), 1, data, {count, &ended, 0});
        posted += s == status::posted;
      }
      // The executor is met holding a lane, polling, going to sleep, asleep.
      if (const auto pause = random() % 4; pause != 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random() % (20u << (4 * pause))));
    });
    ASSERT_EQ(ended.load(), posted.load()) << "round " << round;
  }
}

/// A chain of sends to oneself, each posted by the callback of the one before.
struct chain {
  lane& l;
  int left;
  std::atomic<bool> over{false};

  void step() noexcept {
    while (left > 0) {
      --left;
      const status s = l.try_send(l.self(), 1, {}, {&chain::next, this, 0});
      if (s == status::posted) return;
      if (is_busy(s)) ++left;
    }
    over.store(true, std::memory_order_release);  // pairs with the load in run()
  }
  static void next(void* self, std::uint64_t, const outcome&) noexcept {
    static_cast<chain*>(self)->step();
  }
  /// On a thread with a small stack.
  static void* run(void* self) {
    auto& c = *static_cast<chain*>(self);
    c.step();
    std::vector<std::byte> none;
    while (!c.over.load(std::memory_order_acquire)) c.l.poll();
    return nullptr;
  }
};

TEST_P(Stress, I15AChainOfCallbacksNeedsNoMoreStackThanOne) {
  run_ranks(1, config(), [](world& w) {
    lane l(w);
    const int length = amount(20'000, 1000);
    chain c{l, length};
    std::thread taker([&] {
      for (int i = 0; i < length; ++i) ASSERT_EQ(l.recv(0, 1, {}).code, status::done);
    });
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, sanitized ? 1 << 20 : 128 << 10), 0);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, &attributes, &chain::run, &c), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    taker.join();
  });
}

}  // namespace
}  // namespace heddle::test
