// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_sleeper.h"

#include "support/lane_fixture.h"

namespace heddle::engine {
namespace {

constexpr std::uint64_t shortly_ns = 1000;

class LaneSleeper : public LaneFixture {
 protected:
  LaneSleeper() : sleeper_(start()) {}
  lane_sleeper sleeper_;
};

TEST_F(LaneSleeper, TakesNewsThatCameBeforeItsSleep) {
  bring_news();
  sleeper_.sleep(0, shortly_ns, false);
  EXPECT_TRUE(wire_.events.empty());
  EXPECT_FALSE(driver_->parking().state().is_armed());
}

TEST_F(LaneSleeper, TakesNewsThatComesWhileItArms) {
  wire_.when_arming = [this] {
    wire_.when_arming = {};
    bring_news();
  };
  sleeper_.sleep(0, shortly_ns, false);
  EXPECT_TRUE(wire_.events.empty()) << "nobody else would look for a while";
}

TEST_F(LaneSleeper, LeavesAnExecutorThatTicksAloneWhereItAwaitsSomething) {
  ASSERT_TRUE(driver_->hold().enter());
  driver_->parking().note_rest(true);
  EXPECT_EQ(driver_->port().dispatch().execute(waiting_command(), mine_), status::posted);
  driver_->release(mine_);
  sleeper_.sleep(0, shortly_ns, false);
  EXPECT_EQ(alarm_.wakes, 0) << "it would take this core from whom the news is for";
}

TEST_F(LaneSleeper, LeavesTheDescriptorsArmedWhileTheWireHasNoRoomForWhatIsSent) {
  leave_without_room();
  sleeper_.sleep(0, shortly_ns, false);
  EXPECT_TRUE(driver_->parking().state().is_armed());
}

TEST_F(LaneSleeper, LetsTheExecutorLookOnceItHasSlept) {
  sleeper_.sleep(0, shortly_ns, false);
  EXPECT_EQ(alarm_.soon, 1);
  EXPECT_FALSE(driver_->parking().state().is_slept_on());
}

}  // namespace
}  // namespace heddle::engine
