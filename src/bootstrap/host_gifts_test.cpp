#include "bootstrap/host_gifts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include "support/blobs.h"
#include "support/refusal.h"

namespace heddle::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const blob one{std::byte{1}}, two{std::byte{2}, std::byte{2}}, nothing;

TEST(HostGifts, OfSeveralHostsAreThereByRankAfterTheTrip) {
  host_gifts all(3);
  all.add({{1, two}});
  EXPECT_TRUE(all.add(host_gifts::encode({{2, one}, {0, nothing}})));
  EXPECT_THAT(test::blobs_of(all.take()), ElementsAre(nothing, two, one));
}

TEST(HostGifts, ThatAreMissingAreNamed) {
  host_gifts all(3);
  all.add({{0, one}, {2, one}});
  EXPECT_FALSE(all.has(1));
  EXPECT_THAT(test::refusal([&] { (void)all.take(); }), HasSubstr("rank 1"));
}

TEST(HostGifts, CutShortOrOfRanksThatThereAreNotAreRefused) {
  const blob good = host_gifts::encode({{0, two}, {1, two}});
  const std::size_t first = 1 + 2 * sizeof(std::uint32_t) + two.size();
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_EQ(host_gifts(2).add(std::span(good).first(n)), n == 1 || n == first) << n;
  EXPECT_FALSE(host_gifts(1).add(good));
  EXPECT_FALSE(host_gifts(2).add(host_gifts::encode({{-1, one}})));
  EXPECT_FALSE(host_gifts(2).add(host_gifts::encode_leader(1)));
  EXPECT_FALSE(host_gifts(2).has(2));
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
