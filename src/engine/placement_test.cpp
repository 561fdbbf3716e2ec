// SPDX-License-Identifier: BSD-3-Clause
#include "engine/placement.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "support/refusal.h"

namespace heddle::engine {
namespace {

using test::refusal;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The cores of the test's process; skipped where it has one alone.
class Placement : public testing::Test {
 protected:
  void SetUp() override {
    if (cores_.size() < 2) GTEST_SKIP() << "one core alone is usable here";
  }
  std::vector<int> cores_ = usable_cores();
};

TEST_F(Placement, NearTakesAUsableCoreOnWhichNoLaneIs) {
  const std::array lane{cores_.back()};
  for (int executor = 0; executor < 3; ++executor) {
    const int chosen = choose_core("near", executor, lane, lane);
    EXPECT_THAT(cores_, Contains(chosen));
    EXPECT_NE(chosen, lane.front());
  }
}

TEST_F(Placement, NearLeavesTheCoresOfOthersLanesToo) {
  const std::vector<int> all_but_first(cores_.begin() + 1, cores_.end());
  const std::array lane{cores_.back()};
  EXPECT_EQ(choose_core("near", 0, lane, all_but_first), cores_.front());
}

TEST_F(Placement, NearIsAnywhereWhereNoCoreIsFreeOrNoLaneIsOpen) {
  EXPECT_EQ(choose_core("near", 0, cores_, cores_), -1);
  EXPECT_EQ(choose_core("near", 0, {}, {}), -1);
}

TEST_F(Placement, ListedCoresAreTakenInTurn) {
  const std::string list = fmt::format("{},{}", cores_[1], cores_[0]);
  EXPECT_EQ(choose_core(list, 0, {}, {}), cores_[1]);
  EXPECT_EQ(choose_core(list, 1, {}, {}), cores_[0]);
  EXPECT_EQ(choose_core(list, 2, {}, {}), cores_[1]);
}

TEST_F(Placement, AThreadTiedToACoreMayUseThatOneAndBeGivenNoOther) {
  std::thread([&] {
    ASSERT_TRUE(tie_to_core(cores_[0]));
    EXPECT_THAT(usable_cores(), ElementsAre(cores_[0]));
    EXPECT_EQ(choose_core("near", 0, std::array{cores_[0]}, std::array{cores_[0]}), -1);
    EXPECT_THAT(refusal([&] { (void)choose_core(std::to_string(cores_[1]), 0, {}, {}); }),
                HasSubstr(fmt::format("may not run on core {}", cores_[1])));
  }).join();
}

TEST_F(Placement, AThreadIsKeptOffOneCoreUnlessItHasNoOther) {
  std::thread([&] {
    ASSERT_TRUE(keep_off(pthread_self(), cores_, cores_[0]));
    EXPECT_THAT(usable_cores(), Not(Contains(cores_[0])));
    EXPECT_FALSE(keep_off(pthread_self(), std::array{cores_[1]}, cores_[1]));
  }).join();
}

}  // namespace
}  // namespace heddle::engine
