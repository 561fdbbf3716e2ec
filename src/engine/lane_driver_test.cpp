// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_driver.h"

#include "memory/remote_memory.h"
#include "support/lane_fixture.h"

namespace heddle::engine {
namespace {

using queue = lane_hold::queue;

class LaneDriver : public LaneFixture {
 protected:
  /// By a thread that finds the lane held.
  void queue_commands(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(driver_->commands().push(short_command()), queue::pushed::queued);
  }
};

TEST_F(LaneDriver, IsHeldByOneThreadAtATime) {
  start();
  ASSERT_TRUE(driver_->hold().enter());
  EXPECT_FALSE(driver_->hold().enter());
  EXPECT_FALSE(driver_->hold().enter_free());
  driver_->release(mine_);
  EXPECT_TRUE(driver_->hold().enter());
  driver_->release(other_);
}

TEST_F(LaneDriver, IsNotFreeWhileSomethingIsQueued) {
  start();
  EXPECT_FALSE(driver_->hold().enter_queued());
  ASSERT_EQ(driver_->commands().leave(short_command()), queue::left::unattended);
  EXPECT_FALSE(driver_->hold().enter_free());
  ASSERT_TRUE(driver_->hold().enter_queued());
  driver_->drain(mine_);
  driver_->release(mine_);
  EXPECT_TRUE(driver_->hold().enter_free());
  driver_->release(mine_);
  mine_.run();
}

TEST_F(LaneDriver, ExecutesBeforeItLetsGoWhatWasQueuedMeanwhile) {
  start();
  ASSERT_TRUE(driver_->hold().enter());
  queue_commands(3);
  driver_->release(mine_);
  mine_.run();
  EXPECT_EQ(ended_.count, 3);
  EXPECT_EQ(alarm_.soon + alarm_.wakes, 0);
}

TEST_F(LaneDriver, LeavesToTheExecutorWhatIsMoreThanItsShare) {
  start();
  ASSERT_TRUE(driver_->hold().enter());
  queue_commands(lane_driver::drain_limit + 1);
  driver_->release(mine_);
  mine_.run();
  EXPECT_EQ(ended_.count, static_cast<int>(lane_driver::drain_limit));
  EXPECT_EQ(alarm_.wakes, 1);
  EXPECT_TRUE(driver_->hold().enter()) << "the executor cannot get in";
  driver_->release(other_);
  other_.run();
  EXPECT_EQ(ended_.count, static_cast<int>(lane_driver::drain_limit) + 1);
}

TEST_F(LaneDriver, HasQueuedNoMoreNotificationsThanMayWaitAndBlamesNoPeerForThem) {
  start();
  wire_.room = 0;
  memory::remote_memory target{std::make_shared<memory::imported_memory>()};
  target.owner = 1;
  target.ref = {1, 1};
  target.allowed = rights::all;
  protocols::command told;
  told.kind = protocols::command_kind::put_notify;
  told.peer = 1;
  told.target = &target;
  told.done = ended_;
  constexpr std::size_t more_than_of_a_peer = 70'000;
  for (std::size_t i = 0; i < more_than_of_a_peer; ++i) {
    ASSERT_TRUE(driver_->hold().enter());
    ASSERT_EQ(driver_->commands().push(told), queue::pushed::queued);
    driver_->drain(mine_);
    driver_->release(mine_);
    mine_.run();
  }
  EXPECT_TRUE(driver_->out_of_records());
  EXPECT_EQ(driver_->port().counters().violations.get(), 0u);
  wire_.room = more_than_of_a_peer;
  ASSERT_TRUE(driver_->hold().enter());
  driver_->port().progress(mine_);
  EXPECT_EQ(wire_.messages.size(), more_than_of_a_peer);
  EXPECT_FALSE(driver_->out_of_records());
  EXPECT_EQ(ended_.count, static_cast<int>(more_than_of_a_peer));
  EXPECT_EQ(ended_.code, status::done);
  driver_->release(mine_);
}

TEST_F(LaneDriver, EndsAnyRestOfADedicatedExecutorThatHasToTakeOver) {
  start(progress_mode::dedicated);
  ASSERT_TRUE(driver_->hold().enter());
  queue_commands(lane_driver::drain_limit + 1);
  driver_->release(mine_);
  mine_.run();
  EXPECT_EQ(alarm_.wakes, 1);
}

TEST_F(LaneDriver, CountsWhatAHelperExecutes) {
  start();
  ASSERT_EQ(driver_->commands().leave(short_command()), queue::left::unattended);
  ASSERT_TRUE(driver_->hold().enter());
  driver_->drain(mine_, lane_driver::drained_by::helper);
  driver_->release(mine_);
  mine_.run();
  EXPECT_EQ(driver_->model().counters().picked.get(), 1u);
}

TEST_F(LaneDriver, APollLetsTheExecutorThatWatchesLookAtTheNextTick) {
  start();
  (void)driver_->parking().state().look(false, [] { return true; });
  ASSERT_TRUE(driver_->hold().enter());
  driver_->advance(mine_);
  driver_->release(mine_);
  EXPECT_EQ(alarm_.soon, 1);
  EXPECT_EQ(alarm_.wakes, 0) << "it would take the core from who polls";
}

}  // namespace
}  // namespace heddle::engine
