// SPDX-License-Identifier: BSD-3-Clause
// lendable_queue_test.cpp - a hold that is lent, used, asked back and lent again, under every
// schedule of a few threads. Invariants I1 and I2 of docs/design/invariants.md.
#include "sync/lendable_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/explorer.h"

namespace heddle::model {
namespace {

struct fibers {  // the explorer's memory is sequentially consistent
  static void light() noexcept {}
  static void heavy() noexcept {}
  static const void* me() noexcept { return this_fiber(); }
};

constexpr std::size_t no_limit = 100;

/// As lane_submitter, lane_driver and lane_server use it. A command is its thread's number and its
/// own.
struct lane {
  using hold = sync::lendable_queue<std::uint64_t, model::atomic, fibers>;
  hold driven{8};
  std::vector<std::uint64_t> executed;
  int inside = 0;
  bool crowded = false;
  int lent = 0;

  void execute(std::uint64_t command) {
    crowded |= ++inside != 1;
    step();
    executed.push_back(command);
    --inside;
  }
  void drain() {
    crowded |= ++inside != 1;
    --inside;
    (void)driven.commands().drain(no_limit, [this](std::uint64_t c) { execute(c); });
  }
  void release() {
    do drain();
    while (!driven.leave());
  }
  void submit(std::uint64_t command) {
    if (driven.enter_free()) {
      execute(command);
      if (!driven.leave_free()) release();
    } else if (driven.enter()) {
      drain();
      execute(command);
      if (!driven.leave()) release();
    } else if (driven.commands().push(command) == hold::queue::pushed::held ||
               driven.enter_lent()) {
      release();
    }
  }
  /// Of an executor, which lends the lane to who has used it.
  void visit() {
    if (driven.in_use() || !driven.visit()) return;
    drain();
    const void* const user = driven.last_use().by;
    if (user == nullptr) return release();
    ++lent;
    if (!driven.lend(user)) release();
  }
  /// As lane_core::open() of an exclusive lane.
  void open() {
    if (!driven.enter()) return;
    driven.give_back();
    ++lent;
    if (!driven.lend(this_fiber())) driven.abandon();
  }
  /// What is wrong at the end of `threads` that have submitted `each`.
  std::string fault(std::uint64_t threads, std::uint64_t each) {
    if (crowded) return "two threads inside at once";
    if (driven.commands().pending()) return "a command was left behind";
    std::map<std::uint64_t, std::uint64_t> last;
    for (const std::uint64_t c : executed)
      if (++last[c >> 8] != (c & 0xff)) return fmt::format("out of order: {:x}", c);
    for (std::uint64_t t = 0; t < threads; ++t)
      if (last[t] != each) return fmt::format("thread {} has {} executed", t, last[t]);
    return {};
  }
};

explored explore_lent(int preemptions, std::uint64_t threads, std::uint64_t each, int visits,
                      bool by_two = false) {
  std::shared_ptr<lane> tested;
  bool was_lent = false;
  const auto make = [&] {
    tested = std::make_shared<lane>();
    std::vector<thread_body> bodies;
    for (std::uint64_t t = 0; t < threads; ++t) {
      bodies.emplace_back([=, l = tested] {
        for (std::uint64_t i = 1; i <= each; ++i) l->submit(t << 8 | i);
      });
    }
    for (int v = 0; v < (by_two ? 2 : 1); ++v) {
      bodies.emplace_back([=, l = tested] {
        for (int i = 0; i < visits; ++i) l->visit();
      });
    }
    return bodies;
  };
  explored e = explore(preemptions, make, [&] {
    was_lent |= tested->lent > 1;
    return tested->fault(threads, each);
  });
  std::printf("%llu schedules\n", static_cast<unsigned long long>(e.schedules));
  if (e.failure.empty() && !was_lent) e.failure = "never lent twice";
  return e;
}

TEST(LendableQueueModel, ABorrowerAndWhoLendsItAgainAndAgain) {
  EXPECT_EQ(explore_lent(3, 1, 3, 3).failure, "");
}

TEST(LendableQueueModel, TwoThreadsThatTakeItFromEachOther) {
  EXPECT_EQ(explore_lent(3, 2, 2, 2).failure, "");
}

TEST(LendableQueueModel, ThreeThreads) {
  EXPECT_EQ(explore_lent(2, 3, 2, 2).failure, "");
}

/// Handlers and completions use a lane that nobody has open, and are lent it.
TEST(LendableQueueModel, AnOpenerAndABorrowerFromBefore) {
  std::shared_ptr<lane> tested;
  const auto make = [&] {
    tested = std::make_shared<lane>();
    return std::vector<thread_body>{
        [l = tested] {
          l->submit(1);
          l->visit();
          l->submit(2);
        },
        [l = tested] {
          l->open();
          l->submit(1 << 8 | 1);
          l->submit(1 << 8 | 2);
        },
    };
  };
  const explored e = explore(3, make, [&] { return tested->fault(2, 2); });
  std::printf("%llu schedules\n", static_cast<unsigned long long>(e.schedules));
  EXPECT_EQ(e.failure, "");
}

TEST(LendableQueueModel, TwoVisitors) {
  EXPECT_EQ(explore_lent(2, 2, 1, 2, true).failure, "");
}

}  // namespace
}  // namespace heddle::model
