// SPDX-License-Identifier: BSD-3-Clause
// mixed_test.cpp - more threads than cores do everything on shared lanes, and check all of it.
#include <heddle/heddle.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {

// For the tests of all files.
INSTANTIATE_TEST_SUITE_P(, Stress, testing::ValuesIn(all_ways()),
                         [](const auto& tested) { return tested.param.name; });

namespace {

constexpr int ranks = 3, lanes = 2, threads = 4;
constexpr handler_id count_call = 5;
constexpr std::size_t slot_bytes = 40'000;

/// What a call's handler counts; payload and header belong together.
struct calls {
  std::atomic<int> good{0}, bad{0};

  static void take(void* context, lane&, const call_message& m) noexcept {
    auto& self = *static_cast<calls*>(context);
    std::uint64_t which = 0;
    const bool fits = m.header.size() == sizeof which;
    if (fits) std::memcpy(&which, m.header.data(), sizeof which);
    const bool right = fits && is_pattern(m.payload, which);
    (right ? self.good : self.bad).fetch_add(1, std::memory_order_relaxed);  // relaxed: see join
  }
};

/// One rank's memory, shared by its threads.
struct rank_state {
  world& w;
  symmetric<std::uint64_t> sums;
  symmetric<std::byte> slots;  // one for each thread of each rank
  std::vector<std::unique_ptr<lane>> paths;

  rank_state(world& where, calls& called)
      : w(where),
        sums(w.symmetric<std::uint64_t>(4)),
        slots(w.symmetric<std::byte>(slot_bytes * ranks * threads)) {
    w.set_handler(count_call, calls::take, &called);
    for (int i = 0; i < lanes; ++i) paths.push_back(std::make_unique<lane>(w));
    w.barrier();
  }
};

/// One thread's work. Each step is checked by itself or adds to what is checked at the end.
class Worker {
 public:
  Worker(rank_state& state, int number)
      : state_(state),
        number_(number),
        lane_(*state.paths[static_cast<std::size_t>(number % lanes)]),
        random_(static_cast<unsigned>(state.w.rank() * 100 + number)) {}

  void run(int rounds) {
    for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
      const std::uint64_t which = std::uint64_t(i) * 1000 + std::uint64_t(number_);
      switch (random_() % 4) {
        case 0:
          put_and_get(which);
          break;
        case 1:
          add();
          break;
        case 2:
          call(which);
          break;
        default:
          break;
      }
      exchange(std::uint64_t(i));
    }
  }

 private:
  rank any_peer() { return static_cast<rank>(random_() % ranks); }
  std::size_t any_size(std::size_t most) {
    return random_() % (random_() % 8 == 0 ? most + 1 : std::min<std::size_t>(most, 200));
  }

  void put_and_get(std::uint64_t which) {
    const rank peer = any_peer();
    const auto slot = static_cast<std::uint64_t>(state_.w.rank() * threads + number_) * slot_bytes;
    const auto data = pattern(any_size(slot_bytes), which);
    std::vector<std::byte> back(data.size());
    ASSERT_EQ(lane_.put(data, state_.slots.at(peer, slot)), status::done);
    ASSERT_EQ(lane_.get(back, state_.slots.at(peer, slot)), status::done);
    ASSERT_EQ(back, data) << "through rank " << peer;
  }

  void add() {
    std::uint64_t old = 0;
    ASSERT_EQ(lane_.fetch_add(state_.sums.at(any_peer(), random_() % 4), std::uint64_t{1}, old),
              status::done);
    ++adds;
  }

  void call(std::uint64_t which) {
    const auto payload = pattern(any_size(100'000), which);
    const auto header = std::as_bytes(std::span(&which, 1));
    ASSERT_EQ(lane_.call(any_peer(), count_call, header, payload), status::done);
    ++calls_made;
  }

  /// A message to the next rank and one from the rank before, both of thread `number_`.
  void exchange(std::uint64_t round) {
    const rank to = (state_.w.rank() + 1) % ranks, from = (state_.w.rank() + ranks - 1) % ranks;
    const auto key = round * threads + std::uint64_t(number_);
    const std::size_t bytes = key * 7919 % 11 == 0 ? key * 101 % 200'000 : key % 300;
    const auto data = pattern(bytes, key);
    std::vector<std::byte> into(200'000);
    const auto t = static_cast<tag>(number_);
    flag received;
    while (is_busy(lane_.try_recv(from, t, into, received))) lane_.poll();
    ASSERT_EQ(lane_.send(to, t, data), status::done);
    ASSERT_EQ(lane_.wait(received), status::done);
    ASSERT_EQ(received.result().bytes, bytes) << "round " << round;
    ASSERT_TRUE(is_pattern(std::span(into).first(bytes), key)) << "round " << round;
  }

  rank_state& state_;
  const int number_;
  lane& lane_;
  std::minstd_rand random_;

 public:
  int adds = 0, calls_made = 0;
};

TEST_P(Stress, EveryThreadDoesEverythingAtOnce) {
  const int rounds = amount(300, 20);
  calls called;  // on all ranks
  std::atomic<int> adds = 0, calls_made = 0;
  std::atomic<std::uint64_t> sums = 0;
  run_ranks(ranks, config(), [&](world& w) {
    rank_state state(w, called);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        Worker worker(state, t);
        worker.run(rounds);
        adds += worker.adds;
        calls_made += worker.calls_made;
      });
    for (std::thread& t : running) t.join();
    w.barrier();
    // Calls may still be under way: their completions do not tell that they have run.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (called.good + called.bad < calls_made && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // The barrier orders them behind the additions, but through memory that each rank has mapped
    // elsewhere, where the thread sanitizer does not see it.
    for (std::uint64_t& sum : state.sums.local()) sums += std::atomic_ref(sum).load();
    w.barrier();
    state.paths.clear();
  });
  EXPECT_EQ(sums.load(), static_cast<std::uint64_t>(adds.load()));
  EXPECT_EQ(called.good.load(), calls_made.load());
  EXPECT_EQ(called.bad.load(), 0);
  EXPECT_GT(calls_made.load(), 0);
}

}  // namespace
}  // namespace heddle::test
