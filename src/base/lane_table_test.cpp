// SPDX-License-Identifier: BSD-3-Clause
#include "base/lane_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace heddle {
namespace {

TEST(LaneTable, KeepsTheLanesOfARankApart) {
  lane_table<int> table;
  table.insert(3, 0, std::make_unique<int>(30));
  table.insert(3, 255, std::make_unique<int>(33));
  table.insert(4, 255, std::make_unique<int>(43));
  EXPECT_EQ(*table.find(3, 0), 30);
  EXPECT_EQ(*table.find(3, 255), 33);
  EXPECT_EQ(*table.find(4, 255), 43);
  EXPECT_EQ(table.find(4, 0), nullptr);
  EXPECT_EQ(table.find(3, 7), nullptr);
}

TEST(LaneTable, FindsNothingUnderNumbersThatNothingHas) {
  lane_table<int> table;
  table.insert(0, 0, std::make_unique<int>(1));
  EXPECT_EQ(table.find(0, -1), nullptr);
  EXPECT_EQ(table.find(-1, 0), nullptr);
  EXPECT_EQ(table.find(1, 0), nullptr);
  table.clear();
  EXPECT_EQ(table.find(0, 0), nullptr);
}

}  // namespace
}  // namespace heddle
