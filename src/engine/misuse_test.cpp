// SPDX-License-Identifier: BSD-3-Clause
// misuse_test.cpp - what HEDDLE_CHECKS finds, in every build: each mistake ends the program with a
// line that says where it was made and what to do; without it nothing of the kind happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/blocks.h>
#include <heddle/heddle.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "support/ranks.h"

namespace heddle::test {
namespace {

settings looking(const char* progress = "adaptive") {
  settings s = settings_for("shm");
  s.progress = progress;
  s.checks = "on";
  return s;
}

/// A mistake, and the line that names it.
struct mistake {
  const char* name;
  void (*make)(world& w, lane& l);
  const char* found;
  const char* progress = "adaptive";
};

class MisuseDeathTest : public testing::TestWithParam<mistake> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void inside_a_callback(lane& l, const std::function<void()>& call) {
  std::atomic<bool> over = false;
  callback c([&](const outcome&) {
    call();
    over = true;
  });
  l.when_ready(c);
  while (!over) l.poll();
}

void on_another_thread(const std::function<void()>& call) {
  std::thread(call).join();
}

std::array<std::byte, 8> buffer;  // of receives that nobody sends for

std::array<std::byte, 8>& word() {
  return buffer;
}

constexpr const char* blocking = "a blocking call inside a completion, a handler or a task: post";
constexpr const char* second_thread =
    "second thread uses a lane that was opened exclusive: open it";

const mistake mistakes[]{
    {"FlushInACallback", [](world&, lane& l) { inside_a_callback(l, [&] { (void)l.flush(); }); },
     blocking},
    {"FlushForInACallback",
     [](world&, lane& l) {
       inside_a_callback(l, [&] { (void)l.flush_for(0, std::chrono::milliseconds(1)); });
     },
     blocking},
    {"RecvForInACallback",
     [](world&, lane& l) {
       inside_a_callback(l, [&] { (void)l.recv_for(0, 1, {}, std::chrono::milliseconds(1)); });
     },
     blocking},
    {"MatchForInACallback",
     [](world&, lane& l) {
       inside_a_callback(l, [&] {
         matched_message m;
         (void)l.match_for(0, 1, m, std::chrono::milliseconds(1));
       });
     },
     blocking},
    {"RecvBlocksForInACallback",
     [](world&, lane& l) {
       inside_a_callback(l,
                         [&] { (void)recv_blocks_for(l, 0, 1, {}, std::chrono::milliseconds(1)); });
     },
     blocking},
    {"WaitForAQueueInACallback",
     [](world&, lane& l) {
       inside_a_callback(l, [&] {
         completion_queue never(1);
         l.wait_for(never, 1, std::chrono::milliseconds(1));
       });
     },
     blocking},
    {"RecvInACallback",
     [](world&, lane& l) { inside_a_callback(l, [&] { (void)l.recv(0, 1, {}); }); }, blocking},
    {"WaitInACallback",
     [](world&, lane& l) {
       inside_a_callback(l, [&] {
         flag never;
         l.wait_for(never, std::chrono::milliseconds(1));
       });
     },
     blocking},
    {"PutIntoMappedMemoryInACallback",
     [](world& w, lane& l) {
       auto table = w.symmetric<int>(1);
       inside_a_callback(l, [&] { (void)l.put(1, table.at(0)); });
     },
     blocking},
    {"BarrierInACallback", [](world& w, lane& l) { inside_a_callback(l, [&] { w.barrier(); }); },
     "rank 0, thread .*: a world's barrier or end inside a completion, a handler or a task: leave"},

    {"SendOfASecondThread",
     [](world& w, lane&) {
       lane own(w, {.number = 7, .exclusive = true});
       on_another_thread([&] { (void)own.try_send(0, 1, {}); });
     },
     "rank 0, lane 7, thread [0-9]+ .*: a second thread uses a lane"},
    {"FlushOfASecondThread",
     [](world& w, lane&) {
       lane own(w, {.exclusive = true});
       on_another_thread([&] { (void)own.try_flush(0); });
     },
     second_thread},
    {"PollOfASecondThread",
     [](world& w, lane&) {
       lane own(w, {.exclusive = true});
       on_another_thread([&] { own.poll(); });
     },
     second_thread},
    {"WaitOfASecondThread",
     [](world& w, lane&) {
       lane own(w, {.exclusive = true});
       on_another_thread([&] {
         flag never;
         own.wait_for(never, std::chrono::milliseconds(1));
       });
     },
     second_thread},
    {"SendOfASecondThreadInModeDedicated",
     [](world& w, lane&) {
       lane own(w, {.exclusive = true});
       on_another_thread([&] { (void)own.try_send(0, 1, {}); });
     },
     second_thread, "dedicated"},
    {"LaneAfterItsEnd",
     [](world& w, lane&) {
       lane same(w.core().lanes().open(9, false));  // one that does not close it
       w.core().lanes().close(9);
       (void)same.try_send(0, 1, {});
     },
     "lane 9, thread .*: a lane is used after its end: keep the heddle::lane"},

    {"FlagEndsInFlight",
     [](world&, lane& l) {
       flag ended;
       (void)l.try_recv(0, 1, word(), ended);
     },
     "a flag ends or is reset while an operation holds it: wait"},
    {"FlagIsResetInFlight",
     [](world&, lane& l) {
       flag ended;
       (void)l.try_recv(0, 1, word(), ended);
       ended.reset();
     },
     "a flag ends or is reset while"},
    {"FlagOfTwoOperations",
     [](world&, lane& l) {
       flag ended;
       (void)l.try_recv(0, 1, word(), ended);
       (void)l.try_recv(0, 2, word(), ended);
     },
     "an operation gets a flag that another one has, or had: wait .* reset"},
    {"FlagWithoutResetForTheNext",
     [](world&, lane& l) {
       flag ended;
       l.when_ready(ended);
       (void)l.wait(ended);
       l.when_ready(ended);
     },
     "an operation gets a flag that another one has, or had"},
    {"FlushGetsTheFlagOfAReceive",
     [](world&, lane& l) {
       flag ended;
       (void)l.try_recv(0, 1, word(), ended);
       (void)l.try_flush(0, ended);
     },
     "an operation gets a flag that another one has, or had: wait .* reset"},
    {"CounterEndsInFlight",
     [](world&, lane& l) {
       counter ended;
       l.when_ready(ended);
       (void)l.try_recv(0, 1, word(), ended);
       (void)l.wait(ended, 1);
     },
     "a counter ends or is reset while an operation holds it"},
    {"CounterIsResetInFlight",
     [](world&, lane& l) {
       counter ended;
       (void)l.try_recv(0, 1, word(), ended);
       ended.reset();
     },
     "a counter ends or is reset while"},
    {"QueueEndsInFlight",
     [](world&, lane& l) {
       completion_queue ended(4);
       (void)l.try_recv(0, 1, word(), ended.with(3));
     },
     "a completion_queue ends or is reset while"},
    {"DescriptorEndsInFlight",
     [](world&, lane& l) {
       event_descriptor ended;
       (void)l.try_recv(0, 1, word(), ended);
     },
     "an event_descriptor ends or is reset while"},
};

TEST_P(MisuseDeathTest, I4EndsTheProgramWithTheReason) {
  const auto make = [] {
    run_ranks(1, looking(GetParam().progress), [](world& w) {
      lane l(w);
      GetParam().make(w, l);
    });
  };
  EXPECT_DEATH(make(), testing::ContainsRegex(std::string("heddle: .*") + GetParam().found));
}

INSTANTIATE_TEST_SUITE_P(, MisuseDeathTest, testing::ValuesIn(mistakes),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// A receive, a send for it and a cancel: everything that holds adapters, used as it should be.
void use_adapters_well(world& w, lane& l) {
  flag first;
  counter both;
  completion_queue queue(2);
  std::uint64_t refused = 0;  // with the completion
  for (int i = 0; i < 3; ++i) {
    std::array<std::byte, 8> into;
    EXPECT_EQ(l.try_recv(0, 1, into, first), status::posted);
    EXPECT_TRUE(accepted(l.try_send(0, 1, word(), both)));
    (void)l.wait(first);
    first.reset();
    EXPECT_EQ(l.try_recv(0, 2, into, both), status::posted);
    status s = l.try_cancel(both);
    while (is_busy(s)) s = l.try_cancel(both);
    if (l.try_send(w.size(), 1, {}, queue.with(1)) == status::posted) l.wait(queue, ++refused);
    EXPECT_EQ(l.flush(), status::done);
    if (l.try_flush(0, first) == status::posted) (void)l.wait(first);
    first.reset();
    EXPECT_EQ(l.recv_for(0, 3, into, std::chrono::microseconds(1)).code, status::timed_out);
  }
  (void)l.wait(both, 3);
  both.reset();
}

TEST(Misuse, IsNotSeenWhereThereIsNone) {
  for (const char* progress : {"adaptive", "inline", "idle"})
    run_ranks(1, looking(progress), [](world& w) {
      lane l(w, {.exclusive = true});
      use_adapters_well(w, l);
      inside_a_callback(l, [&] { l.poll(); });
    });
}

TEST(Misuse, OfTheProgramBeforeAForkIsNotItsChilds) {
  run_ranks(1, looking(), [](world& w) {
    lane l(w);
    auto held = std::make_unique<flag>();
    EXPECT_EQ(l.try_recv(0, 1, word(), *held), status::posted);
    const pid_t child = fork();
    if (child == 0) {
      held.reset();
      _exit(0);
    }
    int how = -1;
    waitpid(child, &how, 0);
    EXPECT_EQ(how, 0);
    EXPECT_EQ(l.send(0, 1, word()), status::done);
    (void)l.wait(*held);
  });
}

}  // namespace

/// In a process of its own, which has never had a world that looks.
TEST(OffDeathTest, MisuseIsNotLookedForUnlessAsked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto make = [] {
    settings s = looking();
    s.checks = "off";
    flag ended;  // outlives the world, whose executor may deliver the second time
    run_ranks(1, s, [&](world& w) {
      lane l(w, {.exclusive = true});
      std::thread([&] { (void)l.try_send(0, 1, {}); }).join();
      l.when_ready(ended);
      (void)l.wait(ended);
      l.when_ready(ended);
      while (l.poll() != 0) {
      }
    });
    _exit(0);
  };
  EXPECT_EXIT(make(), testing::ExitedWithCode(0), "");
}

}  // namespace heddle::test
