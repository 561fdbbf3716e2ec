// SPDX-License-Identifier: BSD-3-Clause
// visibility_test.cpp - invariant I12: what an operation wrote is visible to whoever learns of its
// end, by each of the adapters. The payload is plain memory; whoever sees the end reads it, writes
// over it and destroys the adapter at once (I7: nothing is touched after its completion), while
// other threads drive the lane. What thread sanitizer says of it is half of each test.
#include <heddle/heddle.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

constexpr tag stream = 3;
constexpr std::size_t few_words = 16, many_words = 9000;  // eager, and by rendezvous

/// Plain memory that is written by the engine and by whoever sees the end, by turns.
class Payload {
 public:
  static std::size_t words_of(std::uint64_t round) {
    return round % 16 == 5 ? many_words : few_words;
  }
  [[nodiscard]] std::span<std::byte> bytes(std::uint64_t round) {
    return std::as_writable_bytes(std::span(words_).first(words_of(round)));
  }
  void fill(std::uint64_t round) { std::fill(words_.begin(), words_.end(), round); }
  /// Every word is of this round; and leaves none of them so.
  bool take(std::uint64_t round) {
    bool whole = true;
    for (std::uint64_t& word : std::span(words_).first(words_of(round)))
      whole = std::exchange(word, ~round) == round && whole;
    return whole;
  }

 private:
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(many_words);
};

void send_rounds(lane& l, rank to, std::uint64_t rounds) {
  Payload data;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    data.fill(round);
    ASSERT_EQ(l.send(to, stream, data.bytes(round)), status::done);
  }
}

void post_receive(lane& l, std::span<std::byte> into, const completion& done) {
  status s = l.try_recv(0, stream, into, done);
  for (; is_busy(s); s = l.try_recv(0, stream, into, done)) l.poll();
  ASSERT_EQ(s, status::posted);
}

/// Receives with an `Adapter` made anew for each round; a second thread sees its end. This one
/// goes on driving the lane meanwhile, beside the executor.
template <class Adapter>
void watch_rounds(lane& l, std::uint64_t rounds) {
  Payload payload;
  std::unique_ptr<Adapter> adapter;
  std::atomic<std::uint64_t> posted = 0, seen = 0;
  std::thread watcher([&] {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      while (posted.load(std::memory_order_acquire) == round) std::this_thread::yield();
      adapter->see();
      EXPECT_TRUE(payload.take(round)) << "round " << round;
      adapter.reset();
      seen.store(round + 1, std::memory_order_release);  // pairs with the load below
    }
  });
  for (std::uint64_t round = 0; round < rounds; ++round) {
    adapter = std::make_unique<Adapter>(l);
    post_receive(l, payload.bytes(round), adapter->done());
    posted.store(round + 1, std::memory_order_release);  // pairs with the load above
    while (seen.load(std::memory_order_acquire) == round)
      if (l.poll() == 0) std::this_thread::yield();
  }
  watcher.join();
}

struct by_flag {
  explicit by_flag(lane&) {}
  completion done() { return f; }
  void see() {
    while (!f.ready()) std::this_thread::yield();
  }
  flag f;
};

struct by_wait {  // the watcher drives the lane as well, and sleeps on it
  explicit by_wait(lane& on) : l(on) {}
  completion done() { return f; }
  void see() { EXPECT_EQ(l.wait(f), status::done); }
  lane& l;
  flag f;
};

struct by_counter {
  explicit by_counter(lane&) {}
  completion done() { return c; }
  void see() {
    while (c.count() == 0) std::this_thread::yield();
  }
  counter c;
};

struct by_queue {
  explicit by_queue(lane&) {}
  completion done() { return q.with(7); }
  void see() {
    completion_queue::entry e;
    while (!q.try_pop(e)) std::this_thread::yield();
    EXPECT_EQ(e.cookie, 7u);
  }
  completion_queue q{2};
};

struct by_descriptor {
  explicit by_descriptor(lane&) {}
  completion done() { return d; }
  void see() {
    pollfd watched{.fd = d.fd(), .events = POLLIN, .revents = 0};
    while (::poll(&watched, 1, -1) != 1) continue;
    EXPECT_EQ(d.take(), 1u);
  }
  event_descriptor d;
};

template <class Adapter>
void run_rounds(const settings& config, std::uint64_t rounds) {
  run_ranks(2, config, [&](world& w) {
    lane l(w);
    w.barrier();
    if (w.rank() == 0)
      send_rounds(l, 1, rounds);
    else
      watch_rounds<Adapter>(l, rounds);
    w.barrier();
  });
}

std::uint64_t rounds_of(int amount) {
  return static_cast<std::uint64_t>(amount);
}

TEST_P(Stress, I12AFlagShowsWhatTheOperationWrote) {
  run_rounds<by_flag>(config(), rounds_of(amount(1000, 50)));
}

TEST_P(Stress, I12AWaitShowsWhatTheOperationWrote) {
  run_rounds<by_wait>(config(), rounds_of(amount(1000, 50)));
}

TEST_P(Stress, I12ACounterShowsWhatTheOperationWrote) {
  run_rounds<by_counter>(config(), rounds_of(amount(1000, 50)));
}

TEST_P(Stress, I12AQueueShowsWhatTheOperationWrote) {
  run_rounds<by_queue>(config(), rounds_of(amount(1000, 50)));
}

TEST_P(Stress, I12ADescriptorShowsWhatTheOperationWrote) {
  run_rounds<by_descriptor>(config(), rounds_of(amount(1000, 50)));
}

/// A callback that reads the payload itself, on whichever thread it runs, and asks for the next.
struct chained {
  lane& l;
  const std::uint64_t rounds;
  Payload payload{};
  std::uint64_t round = 0, torn = 0;  // plain: each callback sees what the one before wrote
  std::atomic<bool> over{false};

  void post() noexcept {
    const completion next{&chained::step, this, 0};
    status s = l.try_recv(0, stream, payload.bytes(round), next);
    if (is_busy(s)) return l.when_ready({&chained::again, this, 0});
    EXPECT_EQ(s, status::posted);
  }
  static void again(void* self, std::uint64_t, const outcome&) noexcept {
    static_cast<chained*>(self)->post();
  }
  static void step(void* self, std::uint64_t, const outcome&) noexcept {
    auto& c = *static_cast<chained*>(self);
    c.torn += c.payload.take(c.round) ? 0 : 1;
    if (++c.round < c.rounds) return c.post();
    c.over.store(true, std::memory_order_release);  // pairs with the load in the test
  }
};

TEST_P(Stress, I12ACallbackSeesWhatTheOperationAndTheCallbackBeforeWrote) {
  const auto rounds = rounds_of(amount(2000, 50));
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    if (w.rank() == 0) return send_rounds(l, 1, rounds);
    chained c{l, rounds};
    c.post();
    while (!c.over.load(std::memory_order_acquire))
      if (l.poll() == 0) std::this_thread::yield();
    EXPECT_EQ(c.torn, 0u);
  });
}

task<status> await_rounds(async_lane l, Payload& payload, std::uint64_t rounds,
                          std::uint64_t& torn) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const outcome o = co_await l.recv(0, stream, payload.bytes(round));
    if (o.code != status::done) co_return o.code;
    torn += payload.take(round) ? 0 : 1;
  }
  co_return status::done;
}

TEST_P(Stress, I12ATaskSeesWhatTheAwaitedOperationWrote) {
  const auto rounds = rounds_of(amount(2000, 50));
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    if (w.rank() == 0) return send_rounds(l, 1, rounds);
    Payload payload;
    std::uint64_t torn = 0;
    flag ended;
    spawn(await_rounds(async_lane(l), payload, rounds, torn), ended);
    while (!ended.ready())  // this thread and the executor both resume it
      if (l.poll() == 0) std::this_thread::yield();
    EXPECT_EQ(ended.result().code, status::done);
    EXPECT_EQ(torn, 0u);
  });
}

}  // namespace
}  // namespace heddle::test
