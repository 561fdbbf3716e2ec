// SPDX-License-Identifier: BSD-3-Clause
// shortage_test.cpp - a process without descriptors: everything that needs one says so, and nothing
// that was not sent is called done.
#include <gtest/gtest.h>
#include <heddle/heddle.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "support/ranks.h"
#include "support/refusal.h"
#include "support/resource_limits.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

/// While it lives this process can open only so many descriptors more.
class few_descriptors {
 public:
  explicit few_descriptors(std::size_t count) {
    for (unique_fd next(dup(0)); next; next = unique_fd(dup(0))) taken_.push_back(std::move(next));
    taken_.resize(taken_.size() - count);
  }

 private:
  std::vector<unique_fd> taken_;
};

class Shortage : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (sanitized) GTEST_SKIP() << "a sanitizer needs descriptors of its own to look at memory";
    few_.emplace(RLIMIT_NOFILE, 256);
  }
  static settings config() { return settings_for(GetParam()); }

 private:
  std::optional<limit> few_;  // which few_descriptors takes
};
auto wires() {
  std::vector<const char*> all{"shm", "tcp"};
  if (has_card()) all.push_back("verbs");
  return testing::ValuesIn(all);
}
INSTANTIATE_TEST_SUITE_P(Wires, Shortage, wires(), [](const auto& one) { return one.param; });

class ShortageOnTheWay : public Shortage {};  // a card needs no descriptor for one more peer
INSTANTIATE_TEST_SUITE_P(Wires, ShortageOnTheWay, testing::Values("tcp"));

TEST_P(ShortageOnTheWay, ASendToWhomNoWayCanBeMadeIsLostAndSaysWhy) {
  // Rank 1 is a thread of this process: its lane needs descriptors too, and stays open meanwhile.
  std::latch tried(1);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    if (w.rank() == 0) {
      std::byte data{1};
      {
        const no_descriptors left;
        EXPECT_EQ(l.send(1, 1, {&data, 1}), status::peer_lost);
      }
      EXPECT_NE(l.why(1).find("ulimit -n"), std::string::npos) << l.why(1);
      EXPECT_EQ(l.send(1, 1, {&data, 1}), status::peer_lost);
      tried.count_down();
    } else {
      tried.wait();
    }
  });
}

TEST_P(Shortage, ALaneThatCannotBeOpenedNamesItsNumberAndTheCure) {
  run_ranks(1, config(), [](world& w) {
    std::string why;
    {
      const no_descriptors left;
      try {
        lane l(w, {.number = 7});
      } catch (const error& e) {
        why = e.what();
      }
    }
    EXPECT_NE(why.find("lane 7"), std::string::npos) << why;
    EXPECT_NE(why.find("ulimit -n"), std::string::npos) << why;
    EXPECT_NO_THROW(lane(w, {.number = 7}));
  });
}

class ShortageOfAPeer : public Shortage {};
INSTANTIATE_TEST_SUITE_P(Wires, ShortageOfAPeer, testing::Values("shm"));

TEST_P(ShortageOfAPeer, ASendToWhomNoWayCanBeMadeYetGoesWhenItCan) {
  std::latch tried(1);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    std::byte data{1};
    if (w.rank() == 0) {
      flag sent;
      {
        const no_descriptors left;
        EXPECT_EQ(l.try_send(1, 1, {&data, 1}, sent), status::posted);
      }
      EXPECT_EQ(l.wait(sent), status::done);
      tried.count_down();
    } else {
      tried.wait();
      EXPECT_EQ(l.recv(0, 1, {&data, 1}).code, status::done);
    }
  });
}

// Three descriptors are enough for rank 0 to make its ring and to ring rank 1's bell, and too few
// for rank 1 to make the lane that it has not opened itself.
TEST_P(ShortageOfAPeer, ALaneThatAPeerUsesIsMadeWhenItCanBe) {
  run_ranks(2, config(), [](world& w) {
    std::byte data{1};
    if (w.rank() == 0) {
      lane l(w, {.number = 3});
      w.barrier();
      {
        const few_descriptors left(3);
        EXPECT_EQ(l.send(1, 2, {&data, 1}), status::done);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      w.barrier();
    } else {
      w.barrier();
      w.barrier();
      lane l(w, {.number = 3});
      EXPECT_EQ(l.recv(0, 2, {&data, 1}).code, status::done);
    }
  });
}

/// By the mode of progress: who starts threads, and when.
class ShortageOfThreads : public testing::TestWithParam<const char*> {
 protected:
  static world alone() {
    settings config = settings_for("shm");
    config.progress = GetParam();
    return world(engine::make_world(std::move(bootstrap::local_group(1).front()), config));
  }
};
class ShortageOfThreadsAtTheStart : public ShortageOfThreads {};
INSTANTIATE_TEST_SUITE_P(Modes, ShortageOfThreadsAtTheStart,
                         testing::Values("adaptive", "dedicated", "idle"),
                         [](const auto& one) { return one.param; });
class ShortageOfThreadsWhenAllMeet : public ShortageOfThreads {};
INSTANTIATE_TEST_SUITE_P(Modes, ShortageOfThreadsWhenAllMeet, testing::Values("inline"),
                         [](const auto& one) { return one.param; });

TEST_P(ShortageOfThreadsAtTheStart, RefusesTheWorldAndNamesTheCure) {
  const std::string why = refusal([] {
    const no_threads left;
    const world w = alone();
  });
  EXPECT_NE(why.find("ulimit -u"), std::string::npos) << why;
  EXPECT_NO_THROW(alone());
}

TEST_P(ShortageOfThreadsWhenAllMeet, RefusesABarrierAndLeavesTheWorldAsItWas) {
  world w = alone();
  const std::string why = refusal([&] {
    const no_threads left;
    w.barrier();
  });
  EXPECT_NE(why.find("ulimit -u"), std::string::npos) << why;
  EXPECT_NO_THROW(w.barrier());
}

}  // namespace
}  // namespace heddle::test
