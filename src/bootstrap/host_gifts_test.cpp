// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/host_gifts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <optional>

#include "support/refusal.h"

namespace heddle::bootstrap {
namespace {

using testing::HasSubstr;

const blob one{std::byte{1}}, two{std::byte{2}, std::byte{2}}, nothing;

using found = std::vector<std::pair<int, blob>>;

/// Nothing: it is refused.
std::optional<found> decoded(std::span<const std::byte> encoded, int size) {
  found all;
  const auto take = [&](int rank, std::span<const std::byte> given) {
    all.emplace_back(rank, blob(given.begin(), given.end()));
  };
  if (!host_gifts::decode(encoded, size, take)) return {};
  return all;
}

TEST(HostGifts, OfSeveralHostsAreBroughtTogetherOnceAndWithoutThoseOfOtherRanks) {
  host_gifts some(2, 4);
  some.add(3, two);
  some.add(3, one);
  some.add(1, one);
  some.add(4, one);
  EXPECT_TRUE(some.has(3));
  EXPECT_FALSE(some.has(2));
  EXPECT_FALSE(some.has(4));
  some.add(2, nothing);
  EXPECT_EQ(decoded(some.take(), 4), (found{{3, two}, {2, nothing}}));
}

TEST(HostGifts, ThatAreMissingAreNamed) {
  host_gifts some(5, 8);
  some.add(5, one);
  some.add(7, one);
  EXPECT_THAT(test::refusal([&] { (void)some.take(); }), HasSubstr("rank 6"));
}

TEST(HostGifts, CutShortOrOfRanksThatThereAreNotAreRefused) {
  const blob good = host_gifts::encode({{0, two}, {1, two}});
  const std::size_t first = 1 + 2 * sizeof(std::uint32_t) + two.size();
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_EQ(decoded(std::span(good).first(n), 2).has_value(), n == 1 || n == first) << n;
  EXPECT_FALSE(decoded(good, 1));
  EXPECT_FALSE(decoded(host_gifts::encode({{-1, one}}), 2));
  EXPECT_FALSE(decoded(host_gifts::encode_leader(1), 2));
}

TEST(HostGifts, AMemberNamesItsLeaderAndALeaderNobody) {
  EXPECT_EQ(host_gifts::decode_leader(host_gifts::encode_leader(7)), 7);
  EXPECT_EQ(host_gifts::decode_leader(host_gifts::encode({{7, one}})), std::nullopt);
  const blob good = host_gifts::encode_leader(7);
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_EQ(host_gifts::decode_leader(std::span(good).first(n)), std::nullopt) << n;
}

}  // namespace
}  // namespace heddle::bootstrap
