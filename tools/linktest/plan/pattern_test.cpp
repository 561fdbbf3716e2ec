// SPDX-License-Identifier: BSD-3-Clause
// pattern_test.cpp - any single wrong byte, a mix-up and an untouched buffer are all noticed.
#include "linktest/plan/pattern.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::linktest {
namespace {

constexpr pattern_key from_3_to_5{3, 5, 1};

std::vector<std::byte> message(std::size_t bytes, const pattern_key& key = from_3_to_5) {
  std::vector<std::byte> data(bytes);
  fill_pattern(data, key);
  return data;
}

TEST(Pattern, IsRecognisedAtEveryLength) {
  for (std::size_t n = 0; n <= 70; ++n)
    EXPECT_EQ(first_wrong(message(n), from_3_to_5), all_right) << n;
}

TEST(Pattern, TellsTheOffsetOfTheFirstWrongByte) {
  for (std::size_t n = 1; n <= 40; ++n) {
    for (std::size_t at = 0; at < n; ++at) {
      auto data = message(n);
      data[at] ^= std::byte{1};
      ASSERT_EQ(first_wrong(data, from_3_to_5), at) << "length " << n;
    }
  }
}

TEST(Pattern, DiffersByDirectionPairSeedAndLength) {
  const auto data = message(64);
  for (const pattern_key& other : {pattern_key{5, 3, 1}, {3, 4, 1}, {2, 5, 1}, {3, 5, 2}})
    EXPECT_NE(first_wrong(data, other), all_right);
  EXPECT_NE(first_wrong(std::span(data).first(63), from_3_to_5), all_right);
}

TEST(Pattern, NeverMatchesABufferPreparedToBeWrongInAnyByte) {
  for (std::size_t n = 1; n <= 70; ++n) {
    std::vector<std::byte> prepared(n);
    fill_wrong(prepared, from_3_to_5);
    const auto right = message(n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NE(prepared[i], right[i]);
  }
}

}  // namespace
}  // namespace heddle::linktest
