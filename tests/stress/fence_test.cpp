// SPDX-License-Identifier: BSD-3-Clause
// fence_test.cpp - the litmus test of a store and a load ("store buffering"): each of two ranks
// puts into one word and gets the other's; with a fence between the two, at least one sees the
// other.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

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

}  // namespace
}  // namespace heddle::test
