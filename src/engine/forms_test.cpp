// SPDX-License-Identifier: BSD-3-Clause
// forms_test.cpp - forms that save callers work: items, answers counted, payloads kept, words
// waited for.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

class Forms : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, Forms, all_ways(), name_of_way);

TEST_P(Forms, ItemsArePutAndGotAsSpansOfTheirType) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto table = w.symmetric<double>(100);
    const rank peer = 1 - w.rank();
    std::vector<double> values(50);
    std::iota(values.begin(), values.end(), w.rank() * 1000);
    const std::vector<double> same = values;  // const items are as good
    EXPECT_EQ(l.put(same, table.at(peer, 20)), status::done);
    std::array<double, 50> back{};
    EXPECT_EQ(l.get(back, table.at(peer, 20)), status::done);
    EXPECT_TRUE(std::ranges::equal(back, values));
    counter ended;
    std::uint64_t counted = 0;
    for (const status s : {ended.track(l.try_put(values, table.at(peer, 30), ended)),
                           ended.track(l.try_get(back, table.at(peer, 20), ended))})
      counted += is_busy(s) ? 0 : 1;
    EXPECT_EQ(l.wait(ended, counted), status::done);
    w.barrier();
  });
}

TEST_P(Forms, EveryAtomicHasABlockingForm) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto words = w.symmetric<long>(4);
    const rank peer = 1 - w.rank();
    long old = -1;
    EXPECT_EQ(l.add(words.at(peer), 5), status::done);
    EXPECT_EQ(l.fetch_add(words.at(peer), 1, old), status::done);
    EXPECT_EQ(old, 5);
    EXPECT_EQ(l.swap(words.at(peer), 40, old), status::done);
    EXPECT_EQ(old, 6);
    EXPECT_EQ(l.compare_swap(words.at(peer), 41, 50, old), status::done);
    EXPECT_EQ(old, 40);  // not what was expected
    EXPECT_EQ(l.compare_swap(words.at(peer), 40, 50, old), status::done);
    EXPECT_EQ(old, 40);
    EXPECT_EQ(l.get(old, words.at(peer)), status::done);
    EXPECT_EQ(old, 50);
    w.barrier();
  });
}

TEST_P(Forms, ACounterTracksAnswersOfEveryKind) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto words = w.symmetric<std::uint64_t>(8);
    const std::vector<std::byte> data(8);
    counter ended;
    for (int i = 0; i < 100; ++i)
      while (is_busy(ended.track(l.try_put(data, words.at(1 - w.rank(), 3), ended)))) l.poll();
    EXPECT_EQ(l.wait(ended, 100), status::done);
    // Refused, or posted where others execute it.
    (void)ended.track(l.try_put(data, words.at(1 - w.rank(), 8), ended));
    EXPECT_EQ(l.wait(ended, 101), status::out_of_bounds);
    EXPECT_EQ(ended.count(), 101u);
    w.barrier();
  });
}

TEST_P(Forms, AWordThatPeersChangeIsWaitedFor) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto words = w.symmetric<std::uint64_t>(2);
    const rank peer = 1 - w.rank();
    std::uint64_t& put = words.local()[0];
    std::uint64_t& added = words.local()[1];
    for (std::uint64_t round = 1; round <= 50; ++round) {
      if (round % 10 == w.rank() * 5u) std::this_thread::sleep_for(3ms);
      ASSERT_EQ(l.put(round, words.at(peer, 0)), status::done);
      ASSERT_EQ(l.add(words.at(peer, 1), 2), status::done);
      ASSERT_EQ(l.wait_until(put, [&](std::uint64_t v) { return v >= round; }), status::done);
      ASSERT_EQ(l.wait_until(added, [&](std::uint64_t v) { return v >= 2 * round; }), status::done);
    }
    EXPECT_FALSE(l.wait_until(
        put, [](std::uint64_t v) { return v == 1000; }, 5ms));
    w.barrier();
  });
}

TEST(WaitUntil, EndsAsClosedWithTheWorld) {
  auto sessions = bootstrap::local_group(1, true);
  auto w = std::make_unique<world>(engine::make_world(std::move(sessions[0]), settings_for("shm")));
  lane l(*w);
  const std::uint64_t word = 0;
  const auto never = [](std::uint64_t v) { return v != 0; };
  std::atomic<status> answer = status::done;
  std::atomic<bool> waits = false;
  std::thread waiter([&] {
    waits = true;
    answer.store(l.wait_until(word, never));
  });
  while (!waits) std::this_thread::yield();
  std::this_thread::sleep_for(2ms);  // it may as well begin after the end
  w.reset();
  waiter.join();
  EXPECT_EQ(answer, status::closed);
}

/// What a handler kept, and the bytes it saw.
struct kept_payload {
  payload_memory bytes;
  std::size_t size = 0;
  const std::byte* lay_at = nullptr;
  std::atomic<bool> came = false;  // written last
};
void keep(void* context, lane&, const call_message& m) noexcept {
  auto& mine = static_cast<kept_payload*>(context)[m.header.size()];
  mine.bytes = m.keep();
  mine.size = is_pattern(m.payload, m.payload.size()) ? m.payload.size() : 0;
  mine.lay_at = m.payload.data();
  mine.came = true;
}

TEST_P(Forms, AHandlerMayKeepItsPayload) {
  run_ranks(2, config(), [](world& w) {
    constexpr std::array<std::size_t, 4> sizes{0, 100, 20'000, 3'000'000};
    std::array<kept_payload, sizes.size()> mine;
    w.set_handler(9, &keep, mine.data());
    w.barrier();
    lane l(w);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto data = pattern(sizes[i], sizes[i]);
      EXPECT_EQ(l.call(1 - w.rank(), 9, std::span(data).first(std::min(i, sizes[i])), data),
                status::done);
    }
    for (const kept_payload& each : mine)
      while (!each.came) l.poll();
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      ASSERT_NE(mine[i].bytes, nullptr);
      EXPECT_EQ(mine[i].size, sizes[i]);
      EXPECT_TRUE(is_pattern({mine[i].bytes.get(), sizes[i]}, sizes[i]));
    }
    // The largest was not copied.
    EXPECT_EQ(mine.back().bytes.get(), mine.back().lay_at);
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
