// SPDX-License-Identifier: BSD-3-Clause
#include "engine/host_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

/// Of ranks by what tells their hosts apart, a letter, and their hosts' names.
host_map map_of(const std::vector<std::pair<std::string, std::string>>& ranks) {
  host_map made;
  for (const auto& [letter, name] : ranks) {
    host_key key{};
    key.back() = static_cast<std::byte>(letter.front());
    made.add(key);
  }
  made.close([&](rank r) { return std::string_view(ranks[static_cast<std::size_t>(r)].second); });
  return made;
}

TEST(HostMap, NumbersHostsByTheirFirstRanksWhateverTheOrderOfTheOthers) {
  const host_map map = map_of({{"x", "n3"}, {"y", "n1"}, {"x", "n3"}, {"z", "n2"}, {"y", "n1"}});
  std::vector<int> found;
  for (rank r = 0; r < 5; ++r) found.push_back(map.host_of(r));
  EXPECT_THAT(found, testing::ElementsAre(0, 1, 0, 2, 1));
  EXPECT_EQ(map.ranks_beside(4), 2);
  EXPECT_EQ(map.ranks_beside(3), 1);
}

TEST(HostMap, TellsHostsApartByWhatTheyAreAndNotByTheirNames) {
  const host_map map = map_of({{"x", "same"}, {"y", "same"}, {"z", ""}, {"y", "other"}});
  EXPECT_FALSE(map.same(0, 1));
  EXPECT_TRUE(map.same(1, 3));
  EXPECT_EQ(map.name_of(0), "same");
  EXPECT_EQ(map.name_of(1), "same");
  EXPECT_EQ(map.name_of(2), "");
}

}  // namespace
}  // namespace heddle::engine
