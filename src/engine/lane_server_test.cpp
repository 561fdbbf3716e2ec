// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_server.h"

#include <future>
#include <thread>

#include "support/lane_fixture.h"
#include "sync/asymmetric.h"

namespace heddle::engine {
namespace {

using readiness = lane_server::readiness;

class LaneServer : public LaneFixture {
 protected:
  lane_server& start_server(progress_mode mode = progress_mode::adaptive) {
    server_ = std::make_unique<lane_server>(start(mode));
    return *server_;
  }
  bool is_free() {
    if (!driver_->hold().enter()) return false;
    driver_->hold().abandon();
    return true;
  }
  std::unique_ptr<lane_server> server_;
};

TEST_F(LaneServer, TakesTurnsWithOthers) {
  start_server().serve(true);
  EXPECT_TRUE(is_free());
}

TEST_F(LaneServer, KeepsTheHoldOfADedicatedLaneWithNothingToDeliver) {
  start_server(progress_mode::dedicated).serve(true);
  EXPECT_FALSE(is_free());
  server_->dismiss();
  EXPECT_TRUE(is_free());
}

TEST_F(LaneServer, LetsADedicatedLaneGoWhenItHasOthers) {
  start_server(progress_mode::dedicated).serve(false);
  EXPECT_TRUE(is_free());
}

TEST_F(LaneServer, LetsADedicatedLaneGoForAQuestion) {
  start_server(progress_mode::dedicated).serve(true);
  server_->ask();
  server_->serve(true);
  EXPECT_TRUE(is_free());
  server_->serve(true);
  EXPECT_FALSE(is_free()) << "asked once, and let go twice";
  server_->dismiss();
}

TEST_F(LaneServer, DeliversWithoutTheHold) {
  start_server(progress_mode::dedicated);
  (void)driver_->commands().hand_in(short_command());
  server_->serve(true);
  EXPECT_EQ(ended_.count, 1);
  EXPECT_TRUE(is_free());
}

TEST_F(LaneServer, RestsForATickWhereTheOwnerOfAnExclusiveLaneFoundItTaken) {
  if (!sync::enable_asymmetric()) GTEST_SKIP() << "no membarrier, so no lane is exclusive";
  start_server();
  lane_hold& hold = driver_->hold();
  ASSERT_TRUE(hold.reserve());
  EXPECT_TRUE(std::async(std::launch::async, [&] { return hold.enter(); }).get());
  EXPECT_FALSE(hold.enter());
  std::thread([&] {
    hold.abandon();
    server_->serve(false);
    EXPECT_EQ(server_->prepare_sleep(false), readiness::polled);
    EXPECT_NE(server_->prepare_sleep(false), readiness::polled);
  }).join();
}

TEST_F(LaneServer, ComesBackAfterATickWhereTheProgramHasPolled) {
  start_server().progress();
  EXPECT_EQ(server_->prepare_sleep(true), readiness::polled);
  EXPECT_EQ(server_->prepare_sleep(true), readiness::watched);
}

TEST_F(LaneServer, ListensToTheDescriptorsUntilTheProgramDrivesTheLane) {
  start_server();
  alarm_.knows = true;
  EXPECT_EQ(server_->prepare_sleep(true), readiness::watched);
  EXPECT_TRUE(alarm_.listens);
  ASSERT_TRUE(driver_->hold().enter());
  EXPECT_EQ(server_->prepare_sleep(true), readiness::polled);
  EXPECT_FALSE(alarm_.listens) << "they tell again and again of what the holder is about to take";
  driver_->release(mine_);
}

TEST_F(LaneServer, TurnsAwayFromDescriptorsThatWakeItWhileTheHolderBeginsToListen) {
  start_server();
  alarm_.knows = true;
  alarm_.on_listening = [this] {
    EXPECT_EQ(server_->prepare_sleep(true), readiness::polled);
    EXPECT_FALSE(alarm_.listens) << "they would wake it until the holder lets go";
  };
  ASSERT_TRUE(driver_->hold().enter());
  EXPECT_TRUE(server_->leave_to_descriptors());
  driver_->release(mine_);
  EXPECT_EQ(server_->prepare_sleep(true), readiness::watched);
  EXPECT_TRUE(alarm_.listens) << "rests without a tick, and nothing tells";
}

TEST_F(LaneServer, KnowsWhetherTheProgramPollsByItselfSinceTheLastLook) {
  start_server().serve(true);
  EXPECT_FALSE(server_->program_polls());
  server_->progress();
  server_->serve(true);
  EXPECT_TRUE(server_->program_polls());
  EXPECT_EQ(server_->prepare_sleep(true), readiness::polled);
  server_->serve(true);
  EXPECT_FALSE(server_->program_polls()) << "it has polled before the look, and not since";
}

TEST_F(LaneServer, DoesNotPollWhatAThreadSleepsOn) {
  start_server();
  driver_->parking().begin_sleep();
  bring_news();
  server_->progress();
  server_->serve(true);
  EXPECT_EQ(wire_.events.size(), 1u);
  EXPECT_EQ(server_->prepare_sleep(true), readiness::covered);
}

TEST_F(LaneServer, RestsWhileTheWireHasNoRoomForWhatIsSent) {
  start_server();
  leave_without_room();
  EXPECT_EQ(server_->prepare_sleep(true), readiness::watched);
  EXPECT_TRUE(driver_->parking().executor_watches());
  EXPECT_EQ(alarm_.wakes, 0) << "an executor that wakes itself never rests";
}

TEST_F(LaneServer, RestsOnADedicatedLaneWithoutTheHold) {
  start_server(progress_mode::dedicated).serve(true);
  EXPECT_EQ(server_->prepare_sleep(true), readiness::watched);
  EXPECT_TRUE(is_free());
}

TEST_F(LaneServer, DoesNotRestOnADedicatedLaneWithSomethingQueued) {
  start_server(progress_mode::dedicated).serve(true);
  (void)driver_->commands().hand_in(short_command());
  EXPECT_EQ(server_->prepare_sleep(true), readiness::work);
  EXPECT_FALSE(is_free());
  server_->dismiss();
}

}  // namespace
}  // namespace heddle::engine
