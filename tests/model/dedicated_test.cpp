// SPDX-License-Identifier: BSD-3-Clause
// dedicated_test.cpp - the queue of a lane that its executor serves alone, under every schedule of
// a few threads. Invariants I1, I2 and I8 of docs/design/invariants.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "model/explorer.h"
#include "sync/combining_queue.h"

namespace heddle::model {
namespace {

using queue = sync::combining_queue<std::uint64_t, model::atomic>;

constexpr std::size_t no_limit = 100;

void report(const explored& e) {
  std::printf("%llu schedules\n", static_cast<unsigned long long>(e.schedules));
}

// --- handing in, parking, waking, stopping ---------------------------------------------

/// A dedicated executor reduced to its sleep: `parked` says that it rests, `bell` is its eventfd.
struct dedicated_lane {
  explicit dedicated_lane(std::size_t capacity)
      : commands(capacity, (std::uint64_t{1} << 63) - 1) {}

  queue commands;
  atomic<bool> parked{false}, bell{false}, stop{false};
  std::vector<std::uint64_t> executed = std::vector<std::uint64_t>(3, 0);
  std::uint64_t refused = 0, rings = 0, parks = 0, working = 0;
  int handing_in = 0;
  bool out_of_order = false;

  void submit(std::uint64_t command) {
    ++handing_in;
    const queue::left how = commands.hand_in(command);
    --handing_in;
    if (how == queue::left::full) ++refused;
    if (how == queue::left::unattended) summon();
  }
  void summon() {
    if (!parked.load(std::memory_order_seq_cst)) return;
    if (!parked.exchange(false, std::memory_order_seq_cst)) return;
    ++rings;
    bell.store(true, std::memory_order_seq_cst);
  }
  /// As executor::run with lane_server::serve and prepare_sleep.
  void run() {
    bool holds = false;
    while (!stop.load(std::memory_order_seq_cst)) {
      if (!holds && !(holds = commands.try_hold())) continue;
      if (commands.next_is_there()) {
        commands.take_row(no_limit, [this](std::uint64_t c) { execute(c); });
        continue;
      }
      if (commands.pending()) {
        // A producer between claim and publication keeps it awake, not busy for ever.
        if (!drain()) wait_until([this] { return handing_in == 0; });
        continue;
      }
      parked.store(true, std::memory_order_seq_cst);
      ++parks;
      if (!commands.release_empty()) {
        parked.store(false, std::memory_order_seq_cst);
        continue;
      }
      holds = false;
      wait_until([this] { return bell.peek() || stop.peek(); });
      bell.store(false, std::memory_order_seq_cst);
      parked.store(false, std::memory_order_seq_cst);
    }
    if (holds || commands.try_hold()) (void)drain();
    commands.let_go();
  }
  bool drain() {
    bool any = false;
    (void)commands.drain(no_limit, [&](std::uint64_t c) {
      execute(c);
      any = true;
    });
    return any;
  }
  void execute(std::uint64_t c) {
    step();
    std::uint64_t& last = executed[c >> 8];
    out_of_order |= (c & 0xff) != last + 1;
    ++last;
  }

  [[nodiscard]] std::string fault(std::uint64_t all) const {
    std::uint64_t done = refused;
    for (const std::uint64_t n : executed) done += n;
    if (done != all) return fmt::format("{} of {} commands", done, all);
    if (refused == 0 && out_of_order) return "a thread's commands in the wrong order";
    if (rings > parks) return "more wakes than parks";
    return {};
  }
};

explored explore_dedicated(int preemptions, std::size_t capacity, std::uint64_t threads,
                           std::uint64_t each) {
  std::shared_ptr<dedicated_lane> tested;
  const auto make = [&] {
    tested = std::make_shared<dedicated_lane>(capacity);
    tested->working = threads;
    std::vector<thread_body> bodies;
    for (std::uint64_t t = 0; t < threads; ++t) {
      bodies.emplace_back([=, l = tested] {
        for (std::uint64_t i = 1; i <= each; ++i) l->submit(t << 8 | i);
        if (--l->working != 0) return;
        // The world ends: everything handed in is executed all the same.
        l->stop.store(true, std::memory_order_seq_cst);
        l->bell.store(true, std::memory_order_seq_cst);
      });
    }
    bodies.emplace_back([l = tested] { l->run(); });
    return bodies;
  };
  const explored e = explore(preemptions, make, [&] { return tested->fault(threads * each); });
  report(e);
  return e;
}

TEST(DedicatedModel, OneThreadThatHandsInAndStops) {
  EXPECT_EQ(explore_dedicated(4, 4, 1, 2).failure, "");
}

TEST(DedicatedModel, TwoThreadsThatHandIn) {
  EXPECT_EQ(explore_dedicated(2, 4, 2, 2).failure, "");
}

TEST(DedicatedModel, AQueueThatIsMostlyFull) {
  EXPECT_EQ(explore_dedicated(2, 2, 2, 2).failure, "");
}

/// Without anybody who stops it: a command that nobody comes for leaves every thread waiting.
TEST(DedicatedModel, NoCommandIsLeftWithAParkedExecutor) {
  std::shared_ptr<dedicated_lane> tested;
  const auto make = [&] {
    tested = std::make_shared<dedicated_lane>(4);
    std::vector<thread_body> bodies;
    for (std::uint64_t t = 0; t < 2; ++t) {
      bodies.emplace_back([t, l = tested] {
        l->submit(t << 8 | 1);
        wait_until([=] { return l->executed[t] == 1; });
        if (l->executed[1 - t] == 1) l->stop.store(true, std::memory_order_seq_cst);
      });
    }
    bodies.emplace_back([l = tested] { l->run(); });
    return bodies;
  };
  const explored e = explore(2, make, [&] { return tested->fault(2); });
  report(e);
  EXPECT_EQ(e.failure, "");
}

}  // namespace
}  // namespace heddle::model
