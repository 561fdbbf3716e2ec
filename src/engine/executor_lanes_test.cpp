// SPDX-License-Identifier: BSD-3-Clause
#include "engine/executor_lanes.h"

#include "support/lane_fixture.h"

namespace heddle::engine {
namespace {

class ExecutorLanes : public LaneFixture {
 protected:
  ExecutorLanes() { wire_.fd = -1; }
  ~ExecutorLanes() override { lanes_.dismiss(); }
  std::unique_ptr<lane_core> make(int number) {
    auto endpoints = make_endpoints();
    auto on = where();
    on.lane = number;
    return std::make_unique<lane_core>(number, on, std::move(endpoints),
                                       helpers{.alarm = alarm_, .keeper = keeper_, .spin_ns = 0});
  }
  world_lanes all_{[this](int number) { return make(number); }, [](int) {}, false};
  resting_place place_{0, false};
  executor_lanes lanes_{all_, place_, 0, 2};  // those of even numbers
};

TEST_F(ExecutorLanes, AreServedOnceTheyAreAdopted) {
  all_.provide(0);
  bring_news();
  EXPECT_EQ(lanes_.serve(), 0u);
  lanes_.adopt();
  EXPECT_EQ(lanes_.serve(), 1u);
}

TEST_F(ExecutorLanes, AreNoneOfAnotherExecutor) {
  all_.provide(1);
  bring_news();
  lanes_.adopt();
  EXPECT_EQ(lanes_.serve(), 0u);
  EXPECT_EQ(wire_.events.size(), 1u);
}

TEST_F(ExecutorLanes, AreServedWithoutKeepingTheExecutorUpWhereTheProgramPolls) {
  all_.provide(0);
  lanes_.adopt();
  all_.zero().server().progress();
  bring_news();
  EXPECT_EQ(lanes_.serve(), 0u);
  EXPECT_TRUE(wire_.events.empty());
}

TEST_F(ExecutorLanes, SayBeforeARestThatTheProgramPolls) {
  all_.provide(0);
  lanes_.adopt();
  all_.zero().server().progress();
  EXPECT_TRUE(lanes_.prepare_rest().polled);
  EXPECT_FALSE(lanes_.prepare_rest().polled);
}

TEST_F(ExecutorLanes, DoNotRestWithWorkToDo) {
  all_.provide(0);
  lanes_.adopt();
  bring_news();
  EXPECT_TRUE(lanes_.prepare_rest().work);
  EXPECT_FALSE(lanes_.prepare_rest().work);
}

}  // namespace
}  // namespace heddle::engine
