// SPDX-License-Identifier: BSD-3-Clause
// combining_queue_test.cpp - the lane's queue under every schedule of a few threads: the real code,
// with atomics that stop at each access. Invariants I1 and I3 of docs/design/lane.md.
#include "sync/combining_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "model/explorer.h"

namespace heddle::model {
namespace {

using queue = sync::combining_queue<std::uint64_t, model::atomic>;
using pushed = queue::pushed;

constexpr std::size_t no_limit = 100;

/// A lane reduced to its sharing: a command is a number, executing it notes it down.
struct lane {
  explicit lane(std::size_t capacity) : commands(capacity, (std::uint64_t{1} << 63) - 1) {}

  queue commands;
  std::vector<std::vector<std::uint64_t>> executed = std::vector<std::vector<std::uint64_t>>(3);
  std::vector<std::uint64_t> refused = std::vector<std::uint64_t>(3);
  int inside = 0;  // threads that execute
  bool crowded = false;
  bool told = false;          // the executor was told to take over
  std::uint64_t working = 0;  // threads that still submit

  void execute(std::uint64_t command) {
    crowded |= ++inside != 1;
    step();
    executed[command >> 8].push_back(command & 0xff);
    --inside;
  }
  bool drain(std::size_t limit) {
    return commands.drain(limit, [this](std::uint64_t c) { execute(c); });
  }
  void release(std::size_t limit) {
    do {
      if (!drain(limit)) {
        commands.let_go();
        told = true;
        return;
      }
    } while (!commands.release());
  }
  /// As lane_submitter::submit.
  void submit(std::uint64_t command, std::size_t limit) {
    if (commands.try_hold_free()) {
      execute(command);
      if (!commands.release_empty()) release(limit);
      return;
    }
    if (commands.try_hold()) {
      if (drain(limit)) {
        execute(command);
      } else {
        note(command, commands.push(command));
      }
      return release(limit);
    }
    const pushed how = commands.push(command);
    note(command, how);
    if (how == pushed::held) release(limit);
  }
  void note(std::uint64_t command, pushed how) {
    if (how == pushed::full) ++refused[command >> 8];
  }
  /// Until a thread's commands so far are executed, or it was refused one: the lane is driven by
  /// whoever submits.
  void wait_for(std::uint64_t thread, std::uint64_t count) {
    wait_until([=, this] { return executed[thread].size() + refused[thread] >= count; });
  }
  /// The executor: takes over whenever it is told.
  void take_over() {
    for (;;) {
      wait_until([this] { return told || working == 0; });
      if (!told) return;
      told = false;
      if (commands.try_hold()) release(no_limit);
    }
  }

  [[nodiscard]] std::string fault(std::uint64_t threads, std::uint64_t each) const {
    if (crowded) return "two threads executed at once";
    if (commands.held()) return "still held";
    if (commands.pending()) return "a command was left behind";
    for (std::size_t t = 0; t < threads; ++t) {
      if (executed[t].size() + refused[t] != each)
        return fmt::format("{} of {} commands of thread {}", executed[t].size(), each, t);
      for (std::size_t i = 1; i < executed[t].size(); ++i)
        if (executed[t][i] <= executed[t][i - 1]) return "a thread's commands in the wrong order";
    }
    return {};
  }
};

/// `threads` threads that submit `each` commands, and the executor. `limit`: of one thread's work
/// for the others.
explored explore_submits(int preemptions, std::size_t capacity, std::uint64_t threads,
                         std::uint64_t each, std::size_t limit) {
  std::shared_ptr<lane> tested;
  const auto make = [&] {
    tested = std::make_shared<lane>(capacity);
    tested->working = threads;
    std::vector<thread_body> bodies;
    for (std::uint64_t t = 0; t < threads; ++t) {
      bodies.emplace_back([=, l = tested] {
        for (std::uint64_t i = 1; i <= each; ++i) l->submit(t << 8 | i, limit);
        --l->working;
      });
    }
    bodies.emplace_back([l = tested] { l->take_over(); });
    return bodies;
  };
  const explored e = explore(preemptions, make, [&] { return tested->fault(threads, each); });
  std::printf("%llu schedules\n", static_cast<unsigned long long>(e.schedules));
  return e;
}

// Invariant I1: two threads that wait for each of their commands never fill four cells: a cell is
// free again at the latest when the one after it has been executed. (A stale ticket behind the head
// looks like a full queue to whoever subtracts unsigned.)
TEST(CombiningQueueModel, I1IsNeverFullWithFewerCommandsThanCells) {
  std::shared_ptr<lane> tested;
  const auto make = [&] {
    tested = std::make_shared<lane>(4);
    std::vector<thread_body> bodies;
    for (std::uint64_t t = 0; t < 2; ++t) {
      bodies.emplace_back([=, l = tested] {
        for (std::uint64_t i = 1; i <= 3; ++i) {
          const pushed how = l->commands.push(t << 8 | i);
          l->note(t << 8 | i, how);
          if (how == pushed::held) l->release(no_limit);
          l->wait_for(t, i);
        }
      });
    }
    return bodies;
  };
  const explored e = explore(2, make, [&]() -> std::string {
    if (tested->refused[0] + tested->refused[1] != 0) return "full, and was not";
    return tested->fault(2, 3);
  });
  EXPECT_EQ(e.failure, "") << e.schedules;
}

TEST(CombiningQueueModel, I1I3TwoThreadsOfOneCommandEach) {
  EXPECT_EQ(explore_submits(4, 4, 2, 1, no_limit).failure, "");
}

TEST(CombiningQueueModel, I1I3TwoThreadsOfTwoCommandsEach) {
  EXPECT_EQ(explore_submits(3, 4, 2, 2, no_limit).failure, "");
}

TEST(CombiningQueueModel, I1I3ThreeThreadsOfTwoCommandsEach) {
  EXPECT_EQ(explore_submits(2, 4, 3, 2, no_limit).failure, "");
}

TEST(CombiningQueueModel, I1I3ThreeThreadsAndAQueueThatIsMostlyFull) {
  EXPECT_EQ(explore_submits(2, 2, 3, 2, no_limit).failure, "");
}

TEST(CombiningQueueModel, I16AHolderThatHandsOverAfterOneCommand) {
  EXPECT_EQ(explore_submits(2, 4, 3, 2, 1).failure, "");
}

}  // namespace
}  // namespace heddle::model
