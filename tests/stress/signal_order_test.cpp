// SPDX-License-Identifier: BSD-3-Clause
// signal_order_test.cpp - many puts with signals under way at once, over wires that mix up what has
// no order: the data is there when its word says so. The data is plain memory.
#include <heddle/heddle.h>

#include <algorithm>
#include <array>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

constexpr std::size_t slots = 8, most_words = 9000;

/// What rank 0 puts to, and rank 1 looks at. A slot's word is the number of the round it holds.
struct board {
  explicit board(world& w)
      : data(slots * most_words), full(w.symmetric<std::uint64_t>(slots)), taken(slots) {
    exposed = w.expose(std::as_writable_bytes(std::span(data)));
    taken_here = w.expose(std::as_writable_bytes(std::span(taken)));
    const std::array own = {exposed.key(), taken_here.key()};
    std::array<key, 2> other;
    lane l(w);
    EXPECT_EQ(l.send(1 - w.rank(), 1, std::as_bytes(std::span(own))), status::done);
    EXPECT_EQ(l.recv(1 - w.rank(), 1, std::as_writable_bytes(std::span(other))).code, status::done);
    theirs = w.import(other[0]);
    taken_there = w.import(other[1]);
    w.barrier();
  }
  std::vector<std::uint64_t> data;
  symmetric<std::uint64_t> full;
  std::vector<std::uint64_t> taken;  // of each slot: rounds that the reader is done with
  region exposed, taken_here;
  remote_region theirs, taken_there;
};

std::size_t words_of(std::uint64_t round) {
  return round % 16 == 5 ? most_words : 1 + round % 300;
}

void write_rounds(lane& l, board& b, std::uint64_t rounds) {
  std::vector<std::uint64_t> sent(slots * most_words);
  counter ended;
  std::uint64_t posted = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::size_t slot = round % slots;
    ASSERT_EQ(l.wait_until(b.taken[slot], [&](std::uint64_t n) { return n == round / slots; }),
              status::done);
    const auto words = std::span(sent).subspan(slot * most_words, words_of(round));
    std::ranges::fill(words, round);
    status s = status::busy_queue;
    while (is_busy(s)) {
      s = l.try_put_signal(std::as_bytes(words), b.theirs.at(slot * most_words * 8),
                           atomic_op::swap, b.full.at(1, slot), round + 1, ended);
      if (is_busy(s)) l.poll();
    }
    ASSERT_TRUE(accepted(s)) << name_of(s);
    posted += s == status::posted ? 1 : 0;
  }
  ASSERT_EQ(l.wait(ended, posted), status::done);
}

void read_rounds(lane& l, board& b, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::size_t slot = round % slots;
    ASSERT_EQ(
        l.wait_until(b.full.local()[slot], [&](std::uint64_t now) { return now == round + 1; }),
        status::done);
    const auto words = std::span(b.data).subspan(slot * most_words, words_of(round));
    ASSERT_EQ(std::ranges::count(words, round), std::ssize(words)) << "round " << round;
    ASSERT_EQ(l.put_signal({}, b.theirs.at(0), atomic_op::add,
                           b.taken_there.at_item<std::uint64_t>(slot), 1),
              status::done);
  }
}

TEST_P(Stress, TheDataOfAPutIsThereBeforeItsSignal) {
  const auto rounds = static_cast<std::uint64_t>(amount(2000, 50));
  run_ranks(2, config(), [&](world& w) {
    board b(w);
    lane l(w);
    if (w.rank() == 0)
      write_rounds(l, b, rounds);
    else
      read_rounds(l, b, rounds);
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
