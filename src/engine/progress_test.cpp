// SPDX-License-Identifier: BSD-3-Clause
// progress_test.cpp - who moves lanes: the modes, exclusive lanes, helpers.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "engine/world_core.h"
#include "support/ranks.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

settings mode(const char* progress, const char* backend = "shm") {
  settings s = settings_for(backend);
  s.others["HEDDLE_SHM_CMA"] = "off";
  s.progress = progress;
  return s;
}

std::span<const std::byte> bytes_of(const std::uint64_t& value) {
  return std::as_bytes(std::span(&value, 1));
}
std::span<std::byte> bytes_of(std::uint64_t& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// `rounds` messages to and fro, checked.
void ping_pong(world& w, lane& l, int rounds) {
  const rank other = 1 - w.rank();
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rounds); ++i) {
    std::uint64_t got = 0;
    if (w.rank() == 0) {
      ASSERT_EQ(l.send(other, 1, bytes_of(i)), status::done);
    }
    ASSERT_EQ(l.recv(other, 1, bytes_of(got)).code, status::done);
    ASSERT_EQ(got, i);
    if (w.rank() == 1) {
      ASSERT_EQ(l.send(other, 1, bytes_of(got)), status::done);
    }
  }
}

class Exclusive : public testing::TestWithParam<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(Modes, Exclusive,
                         testing::Values(std::pair{"adaptive", "shm"}, std::pair{"adaptive", "tcp"},
                                         std::pair{"inline", "shm"}, std::pair{"idle", "shm"},
                                         std::pair{"idle", "tcp"}, std::pair{"dedicated", "tcp"}),
                         [](const auto& p) {
                           return std::string(p.param.first) + "_" + p.param.second;
                         });

TEST_P(Exclusive, ALaneOfOneThreadCarriesEverything) {
  run_ranks(2, mode(GetParam().first, GetParam().second), [](world& w) {
    lane l(w, {.exclusive = true});
    ping_pong(w, l, scaled(2000));
    std::vector<std::byte> large(300'000, std::byte{7}), into(large.size());
    flag received;
    ASSERT_EQ(l.try_recv(1 - w.rank(), 2, into, received), status::posted);
    ASSERT_EQ(l.send(1 - w.rank(), 2, large), status::done);
    ASSERT_EQ(l.wait(received), status::done);
    EXPECT_EQ(into, large);
    w.barrier();
  });
}

// The helpers visit an exclusive lane: its owner only computes.
TEST_P(Exclusive, OthersServeItWhileItsOwnerComputes) {
  if (std::string(GetParam().first) == "inline") GTEST_SKIP() << "nobody else moves lanes";
  run_ranks(2, mode(GetParam().first, GetParam().second), [](world& w) {
    auto word = w.symmetric<std::uint64_t>(1);
    lane l(w, {.exclusive = true});
    std::vector<std::byte> large(1 << 20, std::byte{5}), into(large.size());
    callback told(
        [&](const outcome&) { std::atomic_ref<std::uint64_t>(word.local()[0]).fetch_add(1); });
    w.barrier();
    const status s = w.rank() == 0 ? l.try_send(1, 3, large, told) : l.try_recv(0, 3, into, told);
    ASSERT_TRUE(accepted(s));
    const std::atomic_ref<std::uint64_t> done(word.local()[0]);
    while (s == status::posted && done.load() == 0) std::this_thread::yield();
    if (w.rank() == 1) {
      EXPECT_EQ(into, large);
    }
    w.barrier();
  });
}

TEST_P(Exclusive, TheNumberIsSharedAgainAfterwards) {
  run_ranks(2, mode(GetParam().first, GetParam().second), [](world& w) {
    {
      lane l(w, {.number = 0, .exclusive = true});
      ping_pong(w, l, 20);
    }
    lane l(w, {.number = 0});
    std::thread other([&] { ping_pong(w, l, 20); });
    other.join();
    w.barrier();
  });
}

TEST(Progress, InModeInlineTheIdleHookMovesALane) {
  run_ranks(2, mode("inline", "tcp"), [](world& w) {
    lane l(w);
    std::uint64_t value = 41;
    flag ended;
    w.barrier();
    const status s = w.rank() == 0 ? l.try_send(1, 1, bytes_of(std::as_const(value)), ended)
                                   : l.try_recv(0, 1, bytes_of(value), ended);
    ASSERT_TRUE(accepted(s));
    while (s == status::posted && !ended.ready()) w.idle_hook();
    EXPECT_EQ(value, 41u);
    // The message may still lie here: whoever is through goes on moving until all are.
    w.barrier();
  });
}

TEST(Progress, InModeDedicatedExecutorsExecuteEverything) {
  run_ranks(2, mode("dedicated"), [](world& w) {
    lane l(w);
    ping_pong(w, l, 100);
    w.core().lanes().for_each([&](const engine::lane_core& core) {
      if (core.number() == l.number()) {
        EXPECT_GE(core.driver().model().counters().picked.get(), 200u);
      }
    });
    w.barrier();
  });
}

/// How often an executor has looked after its lanes because its time was up.
std::uint64_t ticks_of(const world& w) {
  const std::string text = w.describe();
  const std::size_t end = text.rfind(" ticks");
  return std::stoull(text.substr(text.rfind(' ', end - 1)));
}

// Or a peer that answers nothing would be waited for without end.
TEST(Progress, WhatIsPostedWhileTheExecutorRestsIsLookedAfter) {
  settings s = mode("adaptive");
  s.peer_timeout_ms = 8000;  // it looks each second
  run_ranks(2, s, [](world& w) {
    lane l(w);
    std::uint64_t value = 7;
    flag ended;
    w.barrier();
    if (w.rank() == 0) {
      std::uint64_t before = 0;
      do {
        before = ticks_of(w);
        std::this_thread::sleep_for(100ms);
      } while (ticks_of(w) != before);
      ASSERT_EQ(l.try_recv(1, 1, bytes_of(value), ended), status::posted);
      for (int i = 0; i < 200 && ticks_of(w) == before; ++i) std::this_thread::sleep_for(50ms);
      EXPECT_GT(ticks_of(w), before);
    }
    w.barrier();
    if (w.rank() == 1) {
      EXPECT_EQ(l.send(0, 1, bytes_of(std::as_const(value))), status::done);
    } else {
      EXPECT_EQ(l.wait(ended), status::done);
    }
    w.barrier();
  });
}

TEST(Progress, HelpersSubmitWhatWasLeftForThem) {
  run_ranks(2, mode("idle"), [](world& w) {
    lane l(w);
    std::uint64_t value = 7;
    flag ended;
    w.barrier();
    const status s = w.rank() == 0 ? l.try_send(1, 1, bytes_of(std::as_const(value)), ended)
                                   : l.try_recv(0, 1, bytes_of(value), ended);
    ASSERT_EQ(s, status::posted);  // left, in any case
    while (!ended.ready()) std::this_thread::sleep_for(1ms);
    w.barrier();
  });
}

TEST(Progress, ACoreThatIsNotOursIsRefusedByName) {
  settings s = mode("dedicated");
  s.executor_cores = "4095";
  auto sessions = bootstrap::local_group(1);
  try {
    world w(engine::make_world(std::move(sessions[0]), s));
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("4095"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace heddle::test
