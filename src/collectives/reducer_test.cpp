// SPDX-License-Identifier: BSD-3-Clause
// reducer_test.cpp - each reduce_op does what its name says, for the types it is for.
#include <gtest/gtest.h>
#include <heddle/detail/reducer.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace heddle {
namespace {

template <class T>
T combined(reduce_op op, T a, T b) {
  std::array into{a};
  const std::array from{b};
  detail::reducer_for<T>(op)(std::as_writable_bytes(std::span(into)),
                             std::as_bytes(std::span(from)));
  return into[0];
}

TEST(Reducer, ComputesEachOperation) {
  EXPECT_EQ(combined(reduce_op::sum, 12, 10), 22);
  EXPECT_EQ(combined(reduce_op::prod, 12, 10), 120);
  EXPECT_EQ(combined(reduce_op::min, -12, 10), -12);
  EXPECT_EQ(combined(reduce_op::max, -12, 10), 10);
  EXPECT_EQ(combined(reduce_op::bit_and, 12, 10), 8);
  EXPECT_EQ(combined(reduce_op::bit_or, 12, 10), 14);
  EXPECT_EQ(combined(reduce_op::bit_xor, 12, 10), 6);
  EXPECT_EQ(combined(reduce_op::sum, 0.5, 0.25), 0.75);
  EXPECT_EQ(combined(reduce_op::max, 0.5f, 0.25f), 0.5f);
}

TEST(Reducer, WrapsIntegersOfEveryWidth) {
  EXPECT_EQ(combined(reduce_op::sum, std::numeric_limits<int>::max(), 1),
            std::numeric_limits<int>::min());
  EXPECT_EQ(combined<std::uint16_t>(reduce_op::prod, 0xffff, 0xffff), 1);
  EXPECT_EQ(combined<std::int8_t>(reduce_op::sum, 127, 1), -128);
  EXPECT_EQ(combined(reduce_op::prod, std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}),
            std::numeric_limits<std::int64_t>::min());
}

TEST(Reducer, GivesNoNumberWhereEitherIsNone) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (const reduce_op op : {reduce_op::min, reduce_op::max}) {
    EXPECT_TRUE(std::isnan(combined(op, none, 1.0)));
    EXPECT_TRUE(std::isnan(combined(op, 1.0, none)));
  }
}

TEST(Reducer, HasNoBitwiseOperationsForFloatingTypes) {
  EXPECT_EQ(detail::reducer_for<double>(reduce_op::bit_xor).combine, nullptr);
  EXPECT_EQ(detail::reducer_for<double>(reduce_op::bit_and).combine, nullptr);
  EXPECT_NE(detail::reducer_for<double>(reduce_op::sum).combine, nullptr);
}

TEST(Reducer, AppliesAnOperationOfTheUsersToEveryItem) {
  struct pair {
    int weight, index;
  };
  const auto heavier = [](const pair& a, const pair& b) { return a.weight >= b.weight ? a : b; };
  std::vector<pair> into{{1, 0}, {5, 0}};
  const std::vector<pair> from{{2, 1}, {3, 1}};
  detail::reducer_for<pair>(heavier)(std::as_writable_bytes(std::span(into)),
                                     std::as_bytes(std::span(from)));
  EXPECT_EQ(into[0].index, 1);
  EXPECT_EQ(into[1].index, 0);
}

}  // namespace
}  // namespace heddle
