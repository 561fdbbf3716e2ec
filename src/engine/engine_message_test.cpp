// SPDX-License-Identifier: BSD-3-Clause
// engine_message_test.cpp - messages between ranks, over each way, with verified results.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

class EngineMessages : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, EngineMessages, all_ways(), name_of_way);

TEST_P(EngineMessages, TaggedMessagesOfAllSizesArriveIntact) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    for (const std::size_t bytes : {0u, 1u, 100u, 5000u, 70'000u, 3'000'000u}) {
      const auto data = pattern(bytes);
      std::vector<std::byte> got(bytes + 1);
      if (w.rank() == 0) {
        ASSERT_EQ(l.send(1, 7, data), status::done);
        const outcome o = l.recv(1, 8, got);
        ASSERT_EQ(o.code, status::done);
        ASSERT_EQ(o.bytes, bytes);
      } else {
        const outcome o = l.recv(0, 7, got);
        ASSERT_EQ(o.code, status::done);
        ASSERT_EQ(o.bytes, bytes);
        ASSERT_EQ(l.send(0, 8, std::span(got).first(bytes)), status::done);
      }
      got.resize(bytes);
      ASSERT_EQ(got, data) << bytes;
    }
  });
}

/// Of clients on lanes of their own and a server on one: each message goes to the server's lane,
/// each answer to where the message came from.
constexpr int server_lane = 1, client_lanes = 3;
constexpr std::array<std::size_t, 4> question_sizes{1, 100, 70'000, 1'000'000};

void serve(world& w) {
  lane l(w, {.number = server_lane});
  w.barrier();
  std::vector<std::byte> data(question_sizes.back());
  const auto questions = static_cast<std::size_t>(w.size() - 1) * client_lanes;
  for (std::size_t i = 0; i < questions * question_sizes.size(); ++i) {
    const outcome asked = l.recv(any_source, any_tag, data);
    ASSERT_EQ(asked.code, status::done);
    ASSERT_GE(asked.lane, 4);
    ASSERT_EQ(l.send({asked.peer, asked.lane}, asked.tag, std::span(data).first(asked.bytes)),
              status::done);
  }
}

void ask(world& w) {
  w.barrier();
  std::vector<std::thread> threads;
  for (int n = 0; n < client_lanes; ++n)
    threads.emplace_back([&w, n] {
      const int number = 4 + n * w.size() + w.rank();
      lane l(w, {.number = number});
      for (const std::size_t bytes : question_sizes) {
        const auto data = pattern(bytes, static_cast<std::uint64_t>(number));
        std::vector<std::byte> got(bytes);
        flag answered;
        ASSERT_EQ(l.try_recv(0, bytes, got, answered), status::posted);
        ASSERT_EQ(l.send({0, server_lane}, bytes, data), status::done);
        ASSERT_EQ(l.wait(answered), status::done);
        EXPECT_EQ(answered.result().lane, server_lane);
        EXPECT_EQ(got, data);
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST_P(EngineMessages, OneLaneServesClientsOnManyOtherLanes) {
  run_ranks(3, config(), [](world& w) {
    w.rank() == 0 ? serve(w) : ask(w);
    w.barrier();
  });
}

TEST_P(EngineMessages, CallsReachAnyLaneAndSayFromWhichTheyCame) {
  struct seen {
    std::atomic<int> source = -1, lane = -1, here = -1;
  };
  std::array<seen, 2> at;
  run_ranks(2, config(), [&](world& w) {
    constexpr handler_id asked = 1, answered = 2;
    seen& mine = at[static_cast<std::size_t>(w.rank())];
    const auto note = [](seen& into, lane& here, const call_message& m) {
      into.source = m.source;
      into.lane = m.lane;
      into.here = here.number();
    };
    static const auto noted = note;
    w.set_handler(
        asked,
        [](void* to, lane& here, const call_message& m) noexcept {
          noted(*static_cast<seen*>(to), here, m);
          EXPECT_TRUE(accepted(here.try_call({m.source, m.lane}, answered, {}, {})));
        },
        &mine);
    w.set_handler(
        answered,
        [](void* to, lane& here, const call_message& m) noexcept {
          noted(*static_cast<seen*>(to), here, m);
        },
        &mine);
    lane l(w, {.number = w.rank() == 0 ? 2 : 6});
    w.barrier();
    if (w.rank() == 0) {
      ASSERT_EQ(l.call({1, 6}, asked, {}, {}), status::done);
      while (mine.here < 0) (void)l.poll();
      EXPECT_EQ(mine.source, 1);
      EXPECT_EQ(mine.lane, 6);
      EXPECT_EQ(mine.here, 2);
    }
    w.barrier();
  });
  EXPECT_EQ(at[1].source, 0);
  EXPECT_EQ(at[1].lane, 2);
  EXPECT_EQ(at[1].here, 6);
}

TEST_P(EngineMessages, ALaneThatNobodyCanHaveIsRefused) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    for (const int number : {-2, -1000, 256, 70'000, 1 << 30}) {
      EXPECT_EQ(l.send({1, number}, 1, {}), status::invalid) << number;
      EXPECT_EQ(l.call({1, number}, 1, {}, {}), status::invalid) << number;
    }
    EXPECT_EQ(l.send({2, 0}, 1, {}), status::invalid);
    w.barrier();
  });
}

TEST_P(EngineMessages, UnexpectedMessagesWaitAndMatchByTagAndSource) {
  run_ranks(3, config(), [](world& w) {
    lane l(w);
    if (w.rank() != 0) {
      for (std::uint64_t t = 0; t < 10; ++t) {
        const std::uint64_t value = t * 10 + static_cast<std::uint64_t>(w.rank());
        ASSERT_EQ(l.send(0, t, std::as_bytes(std::span(&value, 1))), status::done);
      }
      w.barrier();
      return;
    }
    w.barrier();
    std::uint64_t value = 0;
    const auto into = std::as_writable_bytes(std::span(&value, 1));
    outcome o = l.recv(2, 9, into);
    EXPECT_EQ(value, 92u);
    o = l.recv(any_source, tag_match{4, ~tag{0}}, into);
    EXPECT_EQ(o.tag, 4u);
    EXPECT_EQ(value, 40u + static_cast<std::uint64_t>(o.peer));
    o = l.recv(1, any_tag, into);
    EXPECT_EQ(o.tag, 0u);  // the oldest of rank 1
    EXPECT_EQ(value, 1u);
    o = l.recv(1, tag_match{1, 1}, into);  // odd tags
    EXPECT_EQ(o.tag, 1u);
  });
}

TEST_P(EngineMessages, ALongMessageIsTruncatedAndSaysSo) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    for (const std::size_t bytes : {100u, 200'000u}) {
      if (w.rank() == 0) {
        EXPECT_EQ(l.send(1, 1, pattern(bytes)), status::done);
      } else {
        std::vector<std::byte> small(64);
        const outcome o = l.recv(0, 1, small);
        EXPECT_EQ(o.code, status::truncated);
        EXPECT_EQ(o.bytes, 64u);
        EXPECT_EQ(small, pattern(64));
      }
    }
  });
}

TEST_P(EngineMessages, ProbeSeesWithoutTakingAndCancelTakesBack) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    if (w.rank() == 1) {
      EXPECT_EQ(l.send(0, 5, pattern(33)), status::done);
      w.barrier();
      return;
    }
    w.barrier();
    outcome seen;
    while (l.try_probe(1, 5, seen) != status::done) l.poll();
    EXPECT_EQ(seen.bytes, 33u);
    std::vector<std::byte> got(33), never(8);
    EXPECT_EQ(l.recv(1, 5, got).code, status::done);
    flag f;
    ASSERT_EQ(l.try_recv(1, 6, never, f), status::posted);
    status s = status::busy_lane;
    while (s == status::busy_lane) s = l.try_cancel(f);
    EXPECT_EQ(s, status::done);
    EXPECT_EQ(l.wait(f), status::canceled);
    do s = l.try_probe(1, any_tag, seen);  // an executor may hold the lane just now
    while (s == status::busy_lane);
    EXPECT_EQ(s, status::not_found);
  });
}

struct call_log {
  std::atomic<int> calls{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<bool> good{true};
};

void on_call(void* context, lane&, const call_message& m) noexcept {
  auto& log = *static_cast<call_log*>(context);
  if (m.header.size() != 4 || !std::ranges::equal(m.payload, pattern(m.payload.size())))
    log.good = false;
  log.bytes += m.payload.size();
  ++log.calls;
}

TEST_P(EngineMessages, ActiveMessagesRunTheirHandlerWithHeaderAndPayloadOfAnySize) {
  std::vector<call_log> logs(2);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    call_log& log = logs[static_cast<std::size_t>(w.rank())];
    w.set_handler(3, on_call, &log);
    w.barrier();
    const std::uint32_t header = 42;
    std::uint64_t sent = 0;
    int count = 0;
    for (const std::size_t bytes : {0u, 8u, 3000u, 100'000u, 2'000'000u}) {
      EXPECT_EQ(l.call(1 - w.rank(), 3, std::as_bytes(std::span(&header, 1)), pattern(bytes)),
                status::done);
      sent += bytes;
      ++count;
    }
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (log.calls != count && std::chrono::steady_clock::now() < end) l.poll();
    EXPECT_EQ(log.calls, count);
    EXPECT_EQ(log.bytes, sent);
    EXPECT_TRUE(log.good);
  });
}

struct answers {
  std::vector<std::uint64_t> kept = std::vector<std::uint64_t>(501);
  counter given;
};
/// Answers with the value it got, which stays where it is until the answer has left.
void reply(void* context, lane& here, const call_message& m) noexcept {
  std::uint64_t v = 0;
  std::memcpy(&v, m.header.data(), sizeof v);
  auto& [all, given] = *static_cast<answers*>(context);
  auto& kept = all[v];
  kept = v;
  while (is_busy(
      given.track(here.try_call(m.source, 2, std::as_bytes(std::span(&kept, 1)), {}, given)))) {
  }
}
void count_reply(void* context, lane&, const call_message& m) noexcept {
  std::uint64_t v = 0;
  std::memcpy(&v, m.header.data(), sizeof v);
  *static_cast<std::atomic<std::uint64_t>*>(context) += v;
}

// The peer reads a large message out of such memory, but not by the program's leave.
TEST_P(EngineMessages, MayComeFromMemoryThatPeersMayOnlyWrite) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    constexpr std::size_t bytes = 1 << 20;
    const region own = w.allocate(bytes, rights::write);
    std::fill(own.memory().begin(), own.memory().end(), std::byte{7});
    const rank peer = 1 - w.rank();
    if (w.rank() == 0) {
      EXPECT_EQ(l.send(peer, 1, own.memory()), status::done);
    } else {
      std::vector<std::byte> got(bytes);
      EXPECT_EQ(l.recv(peer, 1, got).code, status::done);
      EXPECT_TRUE(std::ranges::equal(got, own.memory()));
    }
    w.barrier();
  });
}

TEST_P(EngineMessages, HandlersMayAnswer) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    std::atomic<std::uint64_t> sum{0};
    answers mine;
    w.set_handler(1, reply, &mine);
    w.set_handler(2, count_reply, &sum);
    w.barrier();
    for (std::uint64_t i = 1; i <= 500; ++i) {
      ASSERT_EQ(l.call(1 - w.rank(), 1, std::as_bytes(std::span(&i, 1)), {}), status::done);
    }
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (sum != 500 * 501 / 2 && std::chrono::steady_clock::now() < end) l.poll();
    EXPECT_EQ(sum, 500u * 501 / 2);
    EXPECT_TRUE(l.wait_for(mine.given, 500, 10s));
    w.barrier();
  });
}

TEST_P(EngineMessages, ManyThreadsShareOneLane) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    constexpr std::uint64_t threads = 4, messages = 500;
    std::vector<std::thread> team;
    std::atomic<std::uint64_t> sum{0};
    for (std::uint64_t t = 0; t < threads; ++t) {
      team.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < messages; ++i) {
          std::uint64_t out = i, in = ~0ull;
          flag f;
          while (
              is_busy(l.try_recv(1 - w.rank(), t, std::as_writable_bytes(std::span(&in, 1)), f))) {
          }
          ASSERT_EQ(l.send(1 - w.rank(), t, std::as_bytes(std::span(&out, 1))), status::done);
          ASSERT_EQ(l.wait(f), status::done);
          ASSERT_EQ(in, i);
          sum += in;
        }
      });
    }
    for (auto& t : team) t.join();
    EXPECT_EQ(sum, threads * messages * (messages - 1) / 2);
  });
}

TEST_P(EngineMessages, BlockingSendsPastTheCreditEndBeforeAnybodyReceives) {
  settings c = config();
  c.credit_bytes = 4096;
  run_ranks(2, c, [](world& w) {
    lane l(w);
    const rank other = 1 - w.rank();
    constexpr std::uint64_t count = 1000;  // the credit allows 21
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(l.send(other, i % 2, std::as_bytes(std::span(&i, 1))), status::done);
    for (const tag which : {1u, 0u}) {
      for (std::uint64_t expected = which; expected < count; expected += 2) {
        std::uint64_t got = 0;
        const auto into = std::as_writable_bytes(std::span(&got, 1));
        ASSERT_EQ(l.recv(any_source, which, into).code, status::done);
        ASSERT_EQ(got, expected);
      }
    }
    w.barrier();
  });
}

TEST_P(EngineMessages, AReceiveFromARankThatEndsIsPeerLost) {
  settings s = config();
  s.peer_timeout_ms = 1000;
  auto sessions = bootstrap::local_group(2);
  std::thread other([&] {
    world w(engine::make_world(std::move(sessions[1]), s));
    lane l(w);
    std::uint64_t x = 0;
    EXPECT_EQ(l.recv(0, 1, std::as_writable_bytes(std::span(&x, 1))).code, status::done);
  });
  world w(engine::make_world(std::move(sessions[0]), s));
  lane l(w);
  std::uint64_t x = 0;
  flag f;
  ASSERT_EQ(l.try_recv(1, 1, std::as_writable_bytes(std::span(&x, 1)), f), status::posted);
  EXPECT_EQ(l.send(1, 1, std::as_bytes(std::span(&x, 1))), status::done);
  EXPECT_TRUE(l.wait_for(f, 10s));
  EXPECT_EQ(f.result().code, status::peer_lost);
  other.join();
}

}  // namespace
}  // namespace heddle::test
