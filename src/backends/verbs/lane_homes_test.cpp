// SPDX-License-Identifier: BSD-3-Clause
// lane_homes_test.cpp - asks for lanes, without a card: of those that were made none lives.
#include "backends/verbs/lane_homes.h"

#include <gtest/gtest.h>

namespace heddle::transport::verbs {
namespace {

hello ask_for(int lane, rank from = 1, std::uint32_t question = 1) {
  hello h;
  h.from = from;
  h.to_lane = static_cast<std::uint16_t>(lane);
  h.question = question;
  return h;
}

TEST(LaneHomes, AreKnownOnceTheyWereMadeAndStayKnownWhenTheyHaveEnded) {
  lane_homes homes;
  EXPECT_FALSE(homes.was_made(3));
  EXPECT_EQ(homes.find(3), nullptr);
  homes.add(3, nullptr);
  EXPECT_TRUE(homes.was_made(3));
  EXPECT_EQ(homes.find(3), nullptr);
  EXPECT_EQ(homes.without_doorbell(), 0u);
}

TEST(LaneHomes, NameEachWantedLaneOnce) {
  lane_homes homes;
  EXPECT_EQ(homes.name_wanted(), -1);
  homes.keep_early(ask_for(5, 1));
  homes.keep_early(ask_for(5, 2));
  homes.keep_early(ask_for(6, 1, 2));
  EXPECT_EQ(homes.name_wanted(), 5);
  EXPECT_EQ(homes.name_wanted(), 6);
  EXPECT_EQ(homes.name_wanted(), -1);
  EXPECT_FALSE(homes.was_made(5)) << "it was only asked for";
}

TEST(LaneHomes, NameNoLaneThatWasMade) {
  lane_homes homes;
  homes.add(5, nullptr);
  homes.keep_early(ask_for(5));
  EXPECT_EQ(homes.name_wanted(), -1);
}

TEST(LaneHomes, KeepAnAskOnceHoweverOftenItComes) {
  lane_homes homes;
  homes.keep_early(ask_for(5, 1, 7));
  homes.keep_early(ask_for(5, 1, 7));
  homes.keep_early(ask_for(5, 1, 8));
  EXPECT_TRUE(homes.has_early());
  EXPECT_EQ(homes.take_early().size(), 2u);
  EXPECT_FALSE(homes.has_early());
}

TEST(LaneHomes, KeepNoMoreAsksThanAreBearable) {
  lane_homes homes;
  for (std::uint32_t i = 0; i < 2000; ++i) homes.keep_early(ask_for(5, 1, i));
  EXPECT_EQ(homes.take_early().size(), 1024u);
}

}  // namespace
}  // namespace heddle::transport::verbs
