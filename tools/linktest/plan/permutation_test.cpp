// SPDX-License-Identifier: BSD-3-Clause
// permutation_test.cpp - the shuffle is a bijection, undoes itself and depends on its seed.
#include "linktest/plan/permutation.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::linktest {
namespace {

void expect_bijective(std::uint64_t n, std::uint64_t seed) {
  const permutation shuffle(n, seed);
  std::vector<bool> hit(n, false);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t to = shuffle.forward(i);
    ASSERT_LT(to, n);
    ASSERT_FALSE(hit[to]) << "n " << n << " seed " << seed << ": two items go to " << to;
    hit[to] = true;
    ASSERT_EQ(shuffle.inverse(to), i);
  }
}

TEST(Permutation, IsABijectionForEverySmallNumberAndSeveralSeeds) {
  for (std::uint64_t n = 1; n <= 130; ++n)
    for (const std::uint64_t seed : {0u, 1u, 42u}) expect_bijective(n, seed);
}

TEST(Permutation, IsABijectionForLargeNumbersNextToPowersOfTwo) {
  for (const std::uint64_t n : {1000u, 65535u, 65536u, 65537u, 100003u}) expect_bijective(n, 7);
}

TEST(Permutation, UndoesItselfAtOneAndAHalfBillionItems) {
  const permutation shuffle(1'500'000'000, 99);
  for (std::uint64_t i = 0; i < 1'500'000'000; i += 1'234'567)
    ASSERT_EQ(shuffle.inverse(shuffle.forward(i)), i);
}

TEST(Permutation, IsTheSameForTheSameSeedAndAnotherForAnotherSeed) {
  const permutation a(1000, 1), again(1000, 1), b(1000, 2);
  int moved = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(a.forward(i), again.forward(i));
    moved += a.forward(i) != b.forward(i) ? 1 : 0;
  }
  EXPECT_GT(moved, 900);
}

TEST(Permutation, LeavesFewItemsInPlace) {
  const permutation shuffle(1000, 3);
  int fixed = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) fixed += shuffle.forward(i) == i ? 1 : 0;
  EXPECT_LT(fixed, 10);  // a random permutation has one fixed point on average
}

}  // namespace
}  // namespace heddle::linktest
