// SPDX-License-Identifier: BSD-3-Clause
// flush_test.cpp - flush and fence in all their forms: what they wait for, how their end is told,
// and what becomes of them when their time is up.
#include <gtest/gtest.h>
#include <heddle/coroutine.h>
#include <heddle/heddle.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

/// Memory of the peer's that is not mapped here, so that an access to it is under way for a while.
class far_memory {
 public:
  far_memory(world& w, lane& l, std::size_t bytes) : memory_(bytes), mine_(w.expose(memory_)) {
    const rank peer = 1 - w.rank();
    key theirs;
    EXPECT_EQ(l.send(peer, 900, std::as_bytes(std::span(&mine_.key(), 1))), status::done);
    EXPECT_EQ(l.recv(peer, 900, std::as_writable_bytes(std::span(&theirs, 1))).code, status::done);
    w.barrier();
    there_ = w.import(theirs);
  }
  [[nodiscard]] remote_address at(std::uint64_t offset) const { return there_.at(offset); }

 private:
  std::vector<std::byte> memory_;
  region mine_;
  remote_region there_;
};

class Flush : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, Flush, all_ways(), name_of_way);

/// What every form is asked for: that the put before it has arrived.
class put_and_look {
 public:
  put_and_look(lane& on, const far_memory& memory) : on_(on), at_(memory.at(0)) {}
  ~put_and_look() { EXPECT_EQ(on_.wait(puts_, number_), status::done); }
  /// Puts other bytes than ever before, and then calls `post`, again while it answers busy.
  template <class Post>
  status ask(Post&& post) {
    data_ = pattern(200'000, ++number_);
    while (is_busy(puts_.track(on_.try_put(data_, at_, puts_)))) on_.poll();
    status s = post();
    for (; is_busy(s); s = post()) on_.poll();
    EXPECT_TRUE(accepted(s)) << name_of(s);
    return s;
  }
  [[nodiscard]] remote_address at() const { return at_; }
  [[nodiscard]] const std::vector<std::byte>& data() const { return data_; }
  void expect_arrived() {
    std::vector<std::byte> back(data_.size());
    EXPECT_EQ(on_.get(back, at_), status::done);
    EXPECT_EQ(back, data_);
    EXPECT_EQ(on_.wait(puts_, number_), status::done);
  }

 private:
  lane& on_;
  const remote_address at_;
  std::vector<std::byte> data_;
  counter puts_;
  std::uint64_t number_ = 0;
};

TEST_P(Flush, EndsByAnyAdapterOnceThePutsBeforeItHaveArrived) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    const far_memory memory(w, l, 200'000);
    const rank peer = 1 - w.rank();
    counter counted;
    flag once;
    completion_queue queue(2);
    std::atomic<int> called = 0;  // by whatever thread delivers
    callback call([&](const outcome& what) { called += what.code == status::done ? 1 : 100; });
    put_and_look puts(l, memory);

    if (puts.ask([&] { return l.try_flush(peer, once); }) == status::posted) {
      EXPECT_EQ(l.wait(once), status::done);
      EXPECT_EQ(once.result().peer, peer);
    }
    puts.expect_arrived();
    (void)puts.ask([&] { return counted.track(l.try_flush(counted)); });
    EXPECT_EQ(l.wait(counted, 1), status::done);
    puts.expect_arrived();
    if (puts.ask([&] { return l.try_fence(peer, queue.with(7)); }) == status::posted) {
      EXPECT_TRUE(l.wait_for(queue, 1, 60s));
      completion_queue::entry e;
      ASSERT_TRUE(queue.try_pop(e));
      EXPECT_EQ(e.cookie, 7u);
      EXPECT_EQ(e.what.code, status::done);
    }
    puts.expect_arrived();
    if (puts.ask([&] { return l.try_flush(peer, call); }) == status::posted)
      while (called == 0) l.poll();
    EXPECT_LE(called, 1);
    puts.expect_arrived();
    w.barrier();
  });
}

task<> await_each(async_lane l, put_and_look& puts, rank peer) {
  for (int i = 0; i < 3; ++i) {
    (void)puts.ask([] { return status::done; });
    status s = status::invalid;
    if (i == 0) s = co_await l.flush(peer);
    if (i == 1) s = co_await l.flush();
    if (i == 2) s = co_await l.fence(peer);
    EXPECT_EQ(s, status::done);
    std::vector<std::byte> back(200'000);
    EXPECT_EQ(co_await l.get(back, puts.at()), status::done);
    EXPECT_EQ(back, puts.data());
  }
}

TEST_P(Flush, IsAwaitedByTasks) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    const far_memory memory(w, l, 200'000);
    put_and_look puts(l, memory);
    flag over;
    spawn(await_each(async_lane(l), puts, 1 - w.rank()), over);
    EXPECT_EQ(l.wait(over), status::done);
    w.barrier();
  });
}

TEST_P(Flush, OfNothingIsDoneOrEndsSo) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    counter ended;
    for (const status s : {ended.track(l.try_flush(ended)), ended.track(l.try_flush(0, ended)),
                           ended.track(l.try_fence(1, ended))})
      EXPECT_TRUE(accepted(s)) << name_of(s);
    EXPECT_EQ(l.wait(ended, 3), status::done);
    EXPECT_EQ(l.flush_for(0s), status::done);
    EXPECT_EQ(l.fence_for(1 - w.rank(), 60s), status::done);
    w.barrier();
  });
}

/// Puts that never pause: each end posts the next one, until it is told to stop.
class endless_puts {
 public:
  endless_puts(lane& on, remote_address to, int at_a_time) : on_(on), to_(to) {
    for (int i = 0; i < at_a_time; ++i) post();
  }
  void stop() {
    stopped_ = true;
    while (chains_ != 0) on_.poll();
  }

 private:
  void post() {
    status s = on_.try_put(data_, to_, next_);
    for (; is_busy(s); s = on_.try_put(data_, to_, next_)) on_.poll();
    EXPECT_TRUE(accepted(s)) << name_of(s);
    chains_ += s == status::posted ? 1 : 0;
  }
  void go_on() {
    if (stopped_ || on_.try_put(data_, to_, next_) != status::posted) --chains_;
  }
  lane& on_;
  const remote_address to_;
  const std::vector<std::byte> data_ = std::vector<std::byte>(20'000);
  std::atomic<bool> stopped_ = false;  // read by whatever thread delivers
  std::atomic<int> chains_ = 0;        // by whatever thread delivers
  callback<std::function<void(const outcome&)>> next_{[this](const outcome&) { go_on(); }};
};

TEST_P(Flush, EndsAlthoughOthersGoOnPosting) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    far_memory memory(w, l, 20'000);
    if (w.rank() == 0) {
      endless_puts puts(l, memory.at(0), 8);
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(l.flush(1), status::done);
        EXPECT_EQ(l.flush(), status::done);
      }
      puts.stop();
    }
    w.barrier();
  });
}

/// A peer that does nothing for a while, in the mode in which nobody does it in its place.
settings idle_peer() {
  settings s = settings_for("tcp");
  s.progress = "inline";
  return s;
}

/// Between ranks that are threads: rank 1 does nothing from when rank 0 knows so until it ends it.
class idle_time {
 public:
  void pass() {
    begun_.count_down();
    over_.wait();
  }
  void await_begin() { begun_.wait(); }
  void end() { over_.count_down(); }

 private:
  std::latch begun_{1}, over_{1};
};

TEST(FlushLimit, PassesWhileThePeerIsIdleAndTheNextFlushEnds) {
  idle_time idle;
  run_ranks(2, idle_peer(), [&](world& w) {
    lane l(w);
    far_memory memory(w, l, 100'000);
    if (w.rank() == 1) {
      idle.pass();
    } else {
      idle.await_begin();
      std::vector<std::byte> into(100'000);
      flag got;
      EXPECT_EQ(l.try_get(into, memory.at(0), got), status::posted);
      flag before;
      EXPECT_EQ(l.try_flush(1, before), status::posted);
      EXPECT_EQ(l.flush_for(1, 1ms), status::timed_out);
      EXPECT_EQ(l.flush_for(0ms), status::timed_out);
      EXPECT_EQ(l.fence_for(1, 2ms), status::timed_out);
      EXPECT_EQ(l.try_cancel(before), status::done);
      EXPECT_EQ(l.wait(before), status::canceled);
      EXPECT_EQ(l.try_cancel(before), status::not_found);
      EXPECT_FALSE(got.ready());
      flag after;
      EXPECT_EQ(l.try_flush(after), status::posted);
      idle.end();
      EXPECT_EQ(l.wait(after), status::done);
      EXPECT_EQ(l.wait(got), status::done);
      EXPECT_EQ(l.flush_for(60s), status::done);
    }
    w.barrier();
  });
}

TEST(FlushLimit, OfAWatchedFlushAndReceivesPassesAsWell) {
  set_operation_hooks(
      {.begin = [](void*, const operation_info&) noexcept -> std::uint64_t { return 1; }});
  idle_time idle;
  run_ranks(2, idle_peer(), [&](world& w) {
    lane l(w);
    far_memory memory(w, l, 100'000);
    if (w.rank() == 1) {
      idle.pass();
    } else {
      idle.await_begin();
      std::vector<std::byte> into(100'000);
      flag got;
      EXPECT_EQ(l.try_get(into, memory.at(0), got), status::posted);
      EXPECT_EQ(l.flush_for(1ms), status::timed_out);
      const std::array<std::span<std::byte>, 2> blocks{std::span(into).first(10),
                                                       std::span(into).last(10)};
      EXPECT_EQ(l.recv_for(1, 7, into, 1ms).code, status::timed_out);
      EXPECT_EQ(recv_blocks_for(l, 1, 7, blocks, 1ms).code, status::timed_out);
      idle.end();
      EXPECT_EQ(l.wait(got), status::done);
    }
    w.barrier();
  });
  set_operation_hooks({});
}

}  // namespace
}  // namespace heddle::test
