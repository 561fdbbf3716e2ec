// SPDX-License-Identifier: BSD-3-Clause
// put_signal_test.cpp - puts with a signal between ranks, over each way.
#include <gtest/gtest.h>
#include <heddle/coroutine.h>
#include <heddle/heddle.h>

#include <array>
#include <cstdint>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::test {
namespace {

class PutSignal : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, PutSignal, all_ways(), name_of_way);

/// A region of this rank and the one of its peer.
struct both_regions {
  both_regions(world& w, lane& l, region of_mine) : mine(std::move(of_mine)) {
    key other;
    const rank peer = 1 - w.rank();
    const auto ours = std::as_bytes(std::span(&mine.key(), 1));
    flag received;
    EXPECT_EQ(l.try_recv(peer, 1, std::as_writable_bytes(std::span(&other, 1)), received),
              status::posted);
    EXPECT_EQ(l.send(peer, 1, ours), status::done);
    EXPECT_EQ(l.wait(received), status::done);
    theirs = w.import(other);
  }
  region mine;
  remote_region theirs;
};

status post(lane& l, std::span<const std::byte> data, remote_address to, atomic_op how,
            remote_ptr<std::uint64_t> word, std::uint64_t value, const completion& ended) {
  status s = l.try_put_signal(data, to, how, word, value, ended);
  for (; is_busy(s); s = l.try_put_signal(data, to, how, word, value, ended)) l.poll();
  return s;
}

TEST_P(PutSignal, TheDataIsThereWhenTheWordHasChanged) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    std::vector<std::byte> room(3 << 20);
    both_regions data(w, l, w.expose(room));
    auto word = w.symmetric<std::uint64_t>(1);
    const rank peer = 1 - w.rank();
    std::uint64_t round = 0;
    for (const std::size_t bytes : {0u, 1u, 8u, 4095u, 65536u, 1000003u, 3u << 20}) {
      ++round;
      const auto sent = pattern(bytes, round);
      ASSERT_EQ(l.put_signal(sent, data.theirs.at(0), atomic_op::add, word.at(peer), 1),
                status::done);
      ASSERT_EQ(l.wait_until(word.local()[0], [&](std::uint64_t now) { return now >= round; }),
                status::done);
      EXPECT_TRUE(is_pattern(std::span(room).first(bytes), round)) << bytes;
      ASSERT_EQ(barrier(l), status::done);
    }
    EXPECT_EQ(detail::read_shared(word.local()[0]), round);
    w.barrier();
  });
}

TEST_P(PutSignal, RaisesOrSetsAWordOfAnyKindOfMemory) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    std::vector<std::uint64_t> plain(8);
    both_regions exposed(w, l, w.expose(std::as_writable_bytes(std::span(plain))));
    both_regions allocated(w, l, w.allocate(64));
    const std::array places{exposed.theirs.at(0), allocated.theirs.at(0)};
    const std::uint64_t sent = 77;
    const auto data = std::as_bytes(std::span(&sent, 1));
    for (const remote_address to : places)
      for (const remote_address word : places) {
        std::uint64_t got = 0;
        const remote_ptr<std::uint64_t> at{word + 8};
        ASSERT_EQ(l.put_signal(data, to, atomic_op::swap, at, 5), status::done);
        ASSERT_EQ(l.put_signal(data, to + 16, atomic_op::add, at, ~std::uint64_t{0}), status::done);
        ASSERT_EQ(l.get(got, at), status::done);
        EXPECT_EQ(got, 4u);
        for (const std::uint64_t offset : {0u, 16u}) {
          ASSERT_EQ(l.get(got, remote_ptr<std::uint64_t>{to + offset}), status::done);
          EXPECT_EQ(got, sent);
        }
        ASSERT_EQ(l.put(std::uint64_t{0}, remote_ptr<std::uint64_t>{to}), status::done);
        ASSERT_EQ(l.put(std::uint64_t{0}, remote_ptr<std::uint64_t>{to + 16}), status::done);
      }
    w.barrier();
  });
}

TEST_P(PutSignal, ManyUnderWayRaiseTheWordOnceEach) {
  run_ranks(2, config(), [](world& w) {
    constexpr std::uint64_t puts = 300, bytes = 2000;
    lane l(w);
    std::vector<std::byte> room(puts * bytes);
    both_regions data(w, l, w.expose(room));
    std::vector<std::uint64_t> words(1);
    both_regions signals(w, l, w.expose(std::as_writable_bytes(std::span(words))));
    const auto sent = pattern(bytes, 3);
    counter ended;
    std::uint64_t posted = 0;
    for (std::uint64_t i = 0; i < puts; ++i) {
      const status s = post(l, sent, data.theirs.at(i * bytes), atomic_op::add,
                            signals.theirs.at_item<std::uint64_t>(0), 1, ended);
      ASSERT_TRUE(accepted(s)) << name_of(s);
      posted += s == status::posted ? 1 : 0;
    }
    ASSERT_EQ(l.flush(1 - w.rank()), status::done);
    EXPECT_EQ(l.wait(ended, posted), status::done);
    std::uint64_t theirs = 0;
    ASSERT_EQ(l.get(theirs, signals.theirs.at_item<std::uint64_t>(0)), status::done);
    EXPECT_EQ(theirs, puts) << "flush waits for signals too";
    ASSERT_EQ(l.wait_until(words[0], [&](std::uint64_t now) { return now == puts; }), status::done);
    for (std::uint64_t i = 0; i < puts; ++i)
      ASSERT_TRUE(is_pattern(std::span(room).subspan(i * bytes, bytes), 3)) << i;
    w.barrier();
  });
}

TEST_P(PutSignal, WhatCannotBeRightIsRefusedAndChangesNothing) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto data = w.symmetric<std::uint64_t>(2);
    auto words = w.symmetric<std::uint64_t>(2);
    auto without_atomics = w.symmetric<std::uint64_t>(1, rights::read | rights::write);
    const rank peer = 1 - w.rank();
    const std::uint64_t one = 1;
    const auto from = std::as_bytes(std::span(&one, 1));
    const auto ask = [&](remote_address to, atomic_op how, remote_ptr<std::uint64_t> word) {
      return l.put_signal(from, to, how, word, 1);
    };
    const remote_address to = data.at(peer).address;
    EXPECT_EQ(ask(to, atomic_op::max, words.at(peer)), status::invalid);
    EXPECT_EQ(ask(to, atomic_op::add, words.at(w.rank())), status::invalid) << "of two ranks";
    EXPECT_EQ(ask(to, atomic_op::add, words.at(2)), status::invalid);
    EXPECT_EQ(ask({}, atomic_op::add, words.at(peer)), status::invalid);
    EXPECT_EQ(ask(to, atomic_op::add, words.at(peer, 2)), status::out_of_bounds);
    EXPECT_EQ(ask(data.at(peer, 2), atomic_op::add, words.at(peer)), status::out_of_bounds);
    EXPECT_EQ(ask(to, atomic_op::add, without_atomics.at(peer)), status::denied);
    EXPECT_EQ(ask(to, atomic_op::add, {words.at(peer).address + 4}), status::misaligned);
    w.barrier();
    EXPECT_EQ(data.local()[0] + data.local()[1], 0u);
    EXPECT_EQ(words.local()[0] + words.local()[1], 0u);
    w.barrier();
  });
}

TEST_P(PutSignal, AWithdrawnWordAnswersWithdrawn) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    std::vector<std::uint64_t> plain(2);
    both_regions data(w, l, w.expose(std::as_writable_bytes(std::span(plain))));
    both_regions allocated(w, l, w.allocate(64));
    w.barrier();
    allocated.mine.withdraw();
    w.barrier();
    const std::uint64_t one = 1;
    EXPECT_EQ(l.put_signal(std::as_bytes(std::span(&one, 1)), data.theirs.at(0), atomic_op::add,
                           allocated.theirs.at_item<std::uint64_t>(0), 1),
              status::withdrawn);
    w.barrier();
  });
}

task<status> relay(async_lane l, std::span<const std::byte> data, remote_address to,
                   remote_ptr<std::uint64_t> word) {
  co_return co_await l.put_signal(data, to, atomic_op::add, word, 2);
}

TEST_P(PutSignal, CanBeAwaited) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto table = w.symmetric<std::uint64_t>(2);
    const std::uint64_t sent = 9;
    const rank peer = 1 - w.rank();
    flag ended;
    spawn(relay(async_lane(l), std::as_bytes(std::span(&sent, 1)), table.at(peer, 1),
                table.at(peer, 0)),
          ended);
    EXPECT_EQ(l.wait(ended), status::done);
    ASSERT_EQ(l.wait_until(table.local()[0], [](std::uint64_t now) { return now == 2; }),
              status::done);
    EXPECT_EQ(detail::read_shared(table.local()[1]), 9u);
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
