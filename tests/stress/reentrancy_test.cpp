// SPDX-License-Identifier: BSD-3-Clause
// reentrancy_test.cpp - what a completion may do (I4, I7, I15): post the next operation, a million
// times on a small stack; cancel what has just ended; destroy what it belongs to. And what it may
// not: wait, which debug builds notice.
#include <heddle/heddle.h>
#include <pthread.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

/// What this test and the library may use of a thread's stack; sanitizers use far more of it.
constexpr std::size_t small_stack = sanitized ? 512 << 10 : 64 << 10;

void run_on_small_stack(const std::function<void()>& body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, small_stack), 0);
  const auto enter = [](void* function) -> void* {
    (*static_cast<const std::function<void()>*>(function))();
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, enter,
                           const_cast<void*>(static_cast<const void*>(&body))),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// --- I15: the depth of callback -> post -> callback ... is bounded ------------------------------

/// Each completion posts the next operation, which ends inside the post.
struct immediate_chain {
  lane& l;
  int left;
  std::atomic<bool> over{false};

  void post() noexcept { l.when_ready({&immediate_chain::next, this, 0}); }
  static void next(void* self, std::uint64_t, const outcome&) noexcept {
    auto& c = *static_cast<immediate_chain*>(self);
    if (--c.left > 0) return c.post();
    c.over.store(true, std::memory_order_release);  // pairs with the load in the test
  }
};

TEST(Reentrancy, I15AMillionCallbacksThatPostTheNextOneNeedASmallStack) {
  run_ranks(1, settings_for("shm"), [](world& w) {
    lane l(w);
    immediate_chain c{l, 1'000'000};
    run_on_small_stack([&] {
      c.post();
      while (!c.over.load(std::memory_order_acquire)) l.poll();
    });
  });
}

/// The same with a message to oneself for each step: the receive is posted by the callback.
struct message_chain {
  lane& l;
  int left;
  std::uint64_t into = 0, out = 0;
  std::atomic<bool> over{false};

  void post() noexcept {
    out = static_cast<std::uint64_t>(left);
    status s = l.try_recv(0, 1, std::as_writable_bytes(std::span(&into, 1)),
                          {&message_chain::next, this, out});
    EXPECT_EQ(s, status::posted);
    do s = l.try_send(0, 1, std::as_bytes(std::span(&out, 1)));
    while (is_busy(s));
    EXPECT_TRUE(accepted(s)) << name_of(s);
  }
  static void next(void* self, std::uint64_t expected, const outcome& what) noexcept {
    auto& c = *static_cast<message_chain*>(self);
    EXPECT_TRUE(what.code == status::done && c.into == expected);
    if (--c.left > 0) return c.post();
    c.over.store(true, std::memory_order_release);  // pairs with the load in the test
  }
};

TEST(Reentrancy, I15AChainOfMessagesToOneselfNeedsASmallStack) {
  run_ranks(1, settings_for("shm"), [](world& w) {
    lane l(w);
    message_chain c{l, scaled(200'000)};
    run_on_small_stack([&] {
      c.post();
      while (!c.over.load(std::memory_order_acquire)) l.poll();
    });
  });
}

// --- I4, I7: a completion may cancel, and destroy what it belongs to ----------------------------

/// A receive on the heap, gone when its completion returns.
class Request {
 public:
  struct shared {
    lane& l;
    const int wanted;
    std::atomic<int> posted{0}, ended{0}, wrong{0};
  };
  static void post(shared& s) noexcept {
    s.posted.fetch_add(1, std::memory_order_relaxed);  // relaxed: the chain is one after another
    (new Request(s))->ask();
  }

 private:
  explicit Request(shared& s) : s_(s), into_(std::make_unique<std::array<std::byte, 3000>>()) {}

  void ask() noexcept {
    const status s = s_.l.try_recv(0, 9, *into_, done_);
    if (is_busy(s)) return s_.l.when_ready(again_);
    if (s != status::posted) s_.wrong.fetch_add(1, std::memory_order_relaxed);
  }
  void end(const outcome& what) noexcept {
    // It has ended: there is nothing left to cancel, and it does not end again.
    const status c = s_.l.try_cancel(done_);
    const auto number = static_cast<std::uint64_t>(s_.ended.load(std::memory_order_relaxed));
    const bool right = what.code == status::done && (c == status::not_found || is_busy(c)) &&
                       is_pattern(std::span(*into_).first(what.bytes), number);
    if (!right) s_.wrong.fetch_add(1, std::memory_order_relaxed);
    shared& s = s_;
    delete this;  // and with it the callback that this runs in, and its buffer
    const int ended = s.ended.load(std::memory_order_relaxed) + 1;
    const bool last = ended == s.wanted;
    s.ended.store(ended, std::memory_order_release);  // pairs with the load in the test
    if (!last) post(s);  // the test may return after the last, and another thread may end the next
  }

  struct on_end {
    Request* self;
    void operator()(const outcome& what) const noexcept { self->end(what); }
  };
  struct on_room {
    Request* self;
    void operator()(const outcome&) const noexcept { self->ask(); }
  };
  shared& s_;
  std::unique_ptr<std::array<std::byte, 3000>> into_;
  callback<on_end> done_{on_end{this}};
  callback<on_room> again_{on_room{this}};
};

TEST_P(Stress, I7ACallbackMayCancelWhatHasEndedAndDestroyWhatItBelongsTo) {
  const int rounds = amount(3000, 100);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    if (w.rank() == 0) {
      for (int i = 0; i < rounds; ++i) {
        const auto data =
            pattern(static_cast<std::size_t>(i) % 3000, static_cast<std::uint64_t>(i));
        ASSERT_EQ(l.send(1, 9, data), status::done);
      }
      return;
    }
    Request::shared s{l, rounds};
    Request::post(s);
    while (s.ended.load(std::memory_order_acquire) < rounds)
      if (l.poll() == 0) std::this_thread::yield();
    EXPECT_EQ(s.posted.load(), rounds);
    EXPECT_EQ(s.wrong.load(), 0);
  });
}

/// A receive that its own callback, run by somebody else's cancel, posts again and again.
struct canceled_chain {
  lane& l;
  int left;
  int posted = 0;
  std::atomic<int> ended{0};

  void post() noexcept {
    ++posted;
    status s = l.try_recv(0, 5, {}, {&canceled_chain::next, this, 0});
    EXPECT_EQ(s, status::posted);
    // From inside the callback of the one before.
    do s = l.try_cancel({&canceled_chain::next, this, 0});
    while (is_busy(s));
    EXPECT_EQ(s, status::done);
  }
  static void next(void* self, std::uint64_t, const outcome& what) noexcept {
    auto& c = *static_cast<canceled_chain*>(self);
    EXPECT_EQ(what.code, status::canceled);
    const bool again = --c.left > 0;
    if (again) c.post();
    c.ended.fetch_add(1, std::memory_order_release);  // pairs with the load in the test
  }
};

TEST(Reentrancy, I7ACallbackMayCancelWhatItHasJustPosted) {
  const int rounds = scaled(20'000);
  run_ranks(1, settings_for("shm"), [&](world& w) {
    lane l(w);
    canceled_chain c{l, rounds};
    run_on_small_stack([&] {
      c.post();
      while (c.ended.load(std::memory_order_acquire) < rounds) l.poll();
    });
    EXPECT_EQ(c.posted, rounds);
    EXPECT_EQ(c.ended.load(), rounds);
  });
}

}  // namespace
}  // namespace heddle::test
