// SPDX-License-Identifier: BSD-3-Clause
// fence_test.cpp - fences and flushes. The litmus test of a store and a load ("store buffering"):
// each of two ranks puts into one word and gets the other's; with a fence between the two, at least
// one sees the other. And flushes of many threads that are taken back while they end.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

/// What the gets of one rank have seen, by the number it had put before.
using trace = std::vector<std::uint64_t>;

/// Puts 1, 2, 3 ... into one word, and after each of them gets the other.
void put_and_get(world& w, const symmetric<std::uint64_t>& words, trace& seen) {
  lane l(w);
  const auto mine = words.at(0, static_cast<std::size_t>(w.rank()));
  const auto others = words.at(0, static_cast<std::size_t>(1 - w.rank()));
  w.barrier();
  for (std::uint64_t number = 1; number < seen.size(); ++number) {
    ASSERT_EQ(l.put(number, mine), status::done);
    ASSERT_EQ(l.fence(0), status::done);
    ASSERT_EQ(l.get(seen[number], others), status::done);
  }
}

TEST_P(Stress, OfTwoRanksThatPutAndThenGetBehindAFenceOneSeesTheOther) {
  const auto rounds = static_cast<std::size_t>(amount(5000, 100));
  std::array<trace, 2> seen{trace(rounds), trace(rounds)};
  run_ranks(2, config(), [&](world& w) {
    const auto words = w.symmetric<std::uint64_t>(2);
    put_and_get(w, words, seen[static_cast<std::size_t>(w.rank())]);
    w.barrier();
  });
  for (std::size_t first = 1; first < rounds; ++first) {
    // The other's next put came after this get, and so did its get, which must see this put.
    const std::size_t second = seen[0][first] + 1;
    if (second < rounds) {
      ASSERT_GE(seen[1][second], first) << "get " << first << " saw " << second - 1;
    }
  }
}

/// Puts, and flushes behind them, every second of which is taken back: each ends once, and one that
/// is not taken back only when its put has arrived.
void put_and_flush(lane& l, remote_address word, int rounds) {
  counter puts;
  std::uint64_t tracked = 0;
  for (std::uint64_t number = 1; number <= static_cast<std::uint64_t>(rounds); ++number) {
    flag ended;
    std::uint64_t seen = 0;
    const auto data = std::as_bytes(std::span(&number, 1));
    while (is_busy(puts.track(l.try_put(data, word, puts)))) l.poll();
    ++tracked;
    status s = l.try_flush(ended);
    for (; is_busy(s); s = l.try_flush(ended)) l.poll();
    ASSERT_TRUE(accepted(s)) << name_of(s);
    status taken = status::not_found;
    if (number % 2 == 0) {
      taken = l.try_cancel(ended);
      while (is_busy(taken) && !l.wait_for(ended, 50us)) taken = l.try_cancel(ended);
    }
    if (s == status::posted) {
      const bool canceled = taken == status::done;
      ASSERT_EQ(l.wait(ended), canceled ? status::canceled : status::done);
      ASSERT_TRUE(taken == status::not_found || canceled || is_busy(taken)) << name_of(taken);
      if (canceled) s = status::canceled;
    }
    if (s != status::canceled) {
      ASSERT_EQ(l.get(std::as_writable_bytes(std::span(&seen, 1)), word), status::done);
      ASSERT_EQ(seen, number);
    }
    ASSERT_EQ(l.wait(puts, tracked), status::done);  // `number` is read until then
  }
}

TEST_P(Stress, I7FlushesThatAreTakenBackWhileTheyEndEndOnce) {
  constexpr std::size_t threads = 4;
  const int rounds = amount(100, 10);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    std::array<std::uint64_t, threads> words{};
    const region mine = w.expose(std::as_writable_bytes(std::span(words)));
    key theirs;
    ASSERT_EQ(l.send(1 - w.rank(), 1, std::as_bytes(std::span(&mine.key(), 1))), status::done);
    ASSERT_EQ(l.recv(1 - w.rank(), 1, std::as_writable_bytes(std::span(&theirs, 1))).code,
              status::done);
    const remote_region there = w.import(theirs);
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t)
      all.emplace_back([&, t] { put_and_flush(l, there.at(8 * t), rounds); });
    for (std::thread& t : all) t.join();
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
