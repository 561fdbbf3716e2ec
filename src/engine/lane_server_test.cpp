// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_server.h"

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
  template <class F>
  static void elsewhere(F&& f) {
    std::thread(f).join();
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

TEST_F(LaneServer, RaisesAFlagWithoutLettingADedicatedLaneGo) {
  start_server(progress_mode::dedicated);
  flag ended;
  protocols::command c = short_command();
  c.done = ended;
  (void)driver_->commands().hand_in(c);
  server_->serve(true);
  EXPECT_TRUE(ended.ready());
  EXPECT_FALSE(is_free());
  server_->dismiss();
}

TEST_F(LaneServer, LendsTheLaneToTheThreadThatUsesIt) {
  if (!sync::enable_asymmetric_here()) GTEST_SKIP() << "no membarrier, so nothing is lent";
  start_server().progress();
  lane_hold& hold = driver_->hold();
  elsewhere([&] { server_->prepare_sleep(true); });
  EXPECT_TRUE(hold.is_lent());
  EXPECT_EQ(hold.lent_to(), sync::this_thread());
  elsewhere([&] { server_->prepare_sleep(true); });
  EXPECT_FALSE(hold.is_lent()) << "to a thread that has not used it since";
}

TEST_F(LaneServer, RestsForATickWhereWhoHasBorrowedTheLaneUsesIt) {
  if (!sync::enable_asymmetric_here()) GTEST_SKIP() << "no membarrier, so nothing is lent";
  start_server().progress();
  lane_hold& hold = driver_->hold();
  elsewhere([&] { server_->prepare_sleep(true); });
  ASSERT_TRUE(hold.enter());
  elsewhere([&] {
    EXPECT_EQ(server_->serve(true), 0u);
    EXPECT_EQ(server_->prepare_sleep(true), readiness::polled);
  });
  EXPECT_TRUE(hold.is_lent());
  driver_->release(mine_);
}

TEST_F(LaneServer, LooksForDeadPeersOfALaneThatIsLentInModeInlineAndLendsItAgain) {
  if (!sync::enable_asymmetric_here()) GTEST_SKIP() << "no membarrier, so nothing is lent";
  start_server(progress_mode::inline_only);
  lane_hold& hold = driver_->hold();
  ASSERT_TRUE(hold.enter());
  ASSERT_TRUE(hold.lend(sync::this_thread()));
  elsewhere([&] { EXPECT_TRUE(server_->maintain(1)); });
  EXPECT_EQ(hold.lent_to(), sync::this_thread());
  ASSERT_TRUE(hold.enter());
  elsewhere([&] { EXPECT_FALSE(server_->maintain(2)) << "who holds it may be stopped"; });
  driver_->release(mine_);
}

TEST_F(LaneServer, LendsNothingInModeIdle) {
  start_server(progress_mode::idle).progress();
  elsewhere([&] { server_->prepare_sleep(true); });
  EXPECT_FALSE(driver_->hold().is_lent());
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
