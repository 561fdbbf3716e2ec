// SPDX-License-Identifier: BSD-3-Clause
// limits_test.cpp - invariant I6: with the least of everything, and both sides sending large
// messages at once, memory stays bounded and everything arrives. And I16: a flood of one lane does
// not keep another from being served.
#include <heddle/heddle.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "stress/ways.h"
#include "support/resident.h"

namespace heddle::test {
namespace {

settings least_of_everything(settings s) {
  s.records = 16;
  s.others["HEDDLE_SHM_RING_BYTES"] = "4K";
  s.credit_bytes = 4096;
  s.others["HEDDLE_TCP_CHUNK_BYTES"] = "4K";
  return s;
}

// --- I6: back pressure --------------------------------------------------------------------------

constexpr std::size_t message_bytes = 40'000;  // by rendezvous, ten times what a ring holds
constexpr int receivers = 6, senders = 20;     // as many tasks; sixteen records for all of them

task<status> send_all(async_lane l, rank to, tag t, int count, std::span<const std::byte> data) {
  for (int i = 0; i < count; ++i)
    if (const status s = co_await l.send(to, t, data); s != status::done) co_return s;
  co_return status::done;
}

task<status> receive_all(async_lane l, rank from, int count, std::vector<std::byte>& into) {
  for (int i = 0; i < count; ++i) {
    const outcome o = co_await l.recv(from, any_tag, into);
    if (o.code != status::done) co_return o.code;
    if (o.bytes != message_bytes || !is_pattern(into, o.tag)) co_return status::invalid;
  }
  co_return status::done;
}

TEST_P(Stress, I6RendezvousFromBothSidesGoOnWithTheLeastOfEverything) {
  const int each = amount(15, 3) / receivers * receivers + receivers;  // messages of each sender
  std::atomic<std::size_t> most = 0;
  const std::size_t before = resident_bytes();
  run_ranks(2, least_of_everything(config()), [&](world& w) {
    lane l(w);
    w.barrier();
    const rank other = 1 - w.rank();
    std::vector<std::vector<std::byte>> data, into(receivers);
    for (int i = 0; i < senders; ++i) data.push_back(pattern(message_bytes, std::uint64_t(i)));
    counter ended;
    for (auto& buffer : into) {
      buffer.resize(message_bytes);
      spawn(receive_all(async_lane(l), other, each * senders / receivers, buffer), ended);
    }
    for (int i = 0; i < senders; ++i)
      spawn(send_all(async_lane(l), other, static_cast<tag>(i), each, data[std::size_t(i)]), ended);
    EXPECT_EQ(l.wait(ended, receivers + senders), status::done);
    most = std::max(most.load(), resident_bytes());
    w.barrier();
  });
  if (!sanitized) {  // whose own bookkeeping is not ours to bound
    EXPECT_LT(most.load(), before + (std::size_t{48} << 20));
  }
}

// --- I16: fairness between lanes
// ------------------------------------------------------------------

constexpr handler_id flood_call = 6, echo_call = 7, answer_call = 8;

struct counts {
  std::atomic<std::uint64_t> flooded{0}, answered{0};

  static void flood(void* self, lane&, const call_message&) noexcept {
    static_cast<counts*>(self)->flooded.fetch_add(1, std::memory_order_relaxed);  // a tally
  }
  static void echo(void*, lane& here, const call_message& m) noexcept {
    while (is_busy(here.try_call(m.source, answer_call, {}, {}))) std::this_thread::yield();
  }
  static void answer(void* self, lane&, const call_message&) noexcept {
    static_cast<counts*>(self)->answered.fetch_add(1, std::memory_order_relaxed);  // a tally
  }
};

TEST_P(Stress, I16ALaneIsServedWhileAnotherIsFlooded) {
  if (!has_executors()) GTEST_SKIP() << "the rank that sleeps has no executor in this mode";
  const auto rounds = static_cast<std::uint64_t>(amount(300, 20));
  counts seen;
  std::atomic<bool> served = false;
  run_ranks(2, config(), [&](world& w) {
    w.set_handler(flood_call, counts::flood, &seen);
    w.set_handler(echo_call, counts::echo);
    w.set_handler(answer_call, counts::answer, &seen);
    lane busy(w), quiet(w);
    w.barrier();
    if (w.rank() == 1) {  // its executor has both lanes to serve, and no help
      while (!served) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      w.barrier();
      return;
    }
    std::atomic<std::uint64_t> sent = 0;
    std::thread flooder([&] {
      const auto data = pattern(2000, 1);
      counter ended;
      std::uint64_t posted = 0;
      while (!served) {
        const status s = busy.try_call(1, flood_call, {}, data, ended);
        if (is_busy(s)) busy.poll();
        posted += s == status::posted ? 1 : 0;
        sent.fetch_add(accepted(s) ? 1 : 0, std::memory_order_relaxed);  // a tally
      }
      EXPECT_EQ(busy.wait(ended, posted), status::done);
    });
    while (seen.flooded.load() == 0) std::this_thread::yield();  // it is under way
    // So many at least, and until there was a flood indeed: its thread may get no core at first.
    for (std::uint64_t i = 0; i < rounds || sent.load() < rounds; ++i) {
      while (is_busy(quiet.try_call(1, echo_call, {}, {}))) quiet.poll();
      while (seen.answered.load() == i)
        if (quiet.poll() == 0) std::this_thread::yield();
    }
    served = true;
    flooder.join();
    w.barrier();
  });
  EXPECT_GE(seen.answered.load(), rounds);
}

}  // namespace
}  // namespace heddle::test
