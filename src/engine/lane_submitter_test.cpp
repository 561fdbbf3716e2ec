// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_submitter.h"

#include <future>
#include <string>

#include "support/lane_fixture.h"
#include "sync/asymmetric.h"

namespace heddle::engine {
namespace {

using queue = lane_hold::queue;

class LaneSubmitter : public LaneFixture {
 protected:
  lane_submitter& start_submitter(progress_mode mode = progress_mode::adaptive) {
    start(mode);
    end_ = std::make_unique<lane_end>(*driver_);
    server_ = std::make_unique<lane_server>(*driver_);
    waiter_ = std::make_unique<lane_waiter>(*driver_);
    submitter_ = std::make_unique<lane_submitter>(*driver_, *waiter_, *server_, *end_);
    return *submitter_;
  }
  status send(const std::string& text) {
    return submitter_->send(1, 1, std::as_bytes(std::span(text)), ended_);
  }
  /// The texts that have left, in order.
  std::vector<std::string> left() {
    std::vector<std::string> all;
    for (const auto& m : wire_.messages)
      all.emplace_back(reinterpret_cast<const char*>(&m[m.size() - 1]), 1);
    return all;
  }
  status receive_much() {
    into_.resize(32 * 1024);
    return submitter_->submit(waiting_command());
  }

  std::unique_ptr<lane_end> end_;
  std::unique_ptr<lane_server> server_;
  std::unique_ptr<lane_waiter> waiter_;
  std::unique_ptr<lane_submitter> submitter_;
};

using words = std::vector<std::string>;

TEST_F(LaneSubmitter, SendsAtOnceWhereTheLaneIsFree) {
  start_submitter();
  EXPECT_EQ(send("a"), status::done);
  EXPECT_EQ(left(), words{"a"});
  EXPECT_EQ(ended_.count, 0) << "what is answered done has no end";
}

TEST_F(LaneSubmitter, LeavesItToTheHolder) {
  start_submitter();
  const std::string text = "a";
  ASSERT_TRUE(driver_->hold().enter());
  EXPECT_EQ(send(text), status::posted);
  EXPECT_EQ(left(), words{});
  driver_->release(other_);
  other_.run();
  EXPECT_EQ(left(), words{"a"});
  EXPECT_EQ(ended_.count, 1);
}

TEST_F(LaneSubmitter, ExecutesFirstWhatWasQueuedBefore) {
  start_submitter();
  const std::string text = "a";
  (void)driver_->commands().leave(
      protocols::send_command(1, 1, std::as_bytes(std::span(text)), ended_));
  EXPECT_EQ(send("b"), status::done);
  EXPECT_EQ(left(), (words{"a", "b"}));
}

TEST_F(LaneSubmitter, RefusesWhatTheQueueHasNoRoomFor) {
  start_submitter();
  ASSERT_TRUE(driver_->hold().enter());
  while (driver_->commands().leave(short_command()) == queue::left::queued) {
  }
  EXPECT_EQ(send("a"), status::busy_queue);
  while (!driver_->drain(other_)) {
  }
  driver_->release(other_);
  other_.run();
}

TEST_F(LaneSubmitter, AnswersClosedBehindTheEnd) {
  start_submitter();
  end_->come(mine_);
  EXPECT_EQ(send("a"), status::closed);
  EXPECT_EQ(submitter_->submit(waiting_command()), status::closed);
  EXPECT_EQ(ended_.count, 0);
}

TEST_F(LaneSubmitter, LeavesALargeTransferToAnExecutorThatListensWithoutWakingIt) {
  start_submitter();
  alarm_.knows = true;
  EXPECT_EQ(receive_much(), status::posted);
  EXPECT_TRUE(alarm_.listens);
  EXPECT_TRUE(driver_->parking().executor_watches());
  EXPECT_EQ(alarm_.wakes, 0);
  EXPECT_EQ(keeper_.moves, 1);
}

TEST_F(LaneSubmitter, GivesALaneThatIsLentBackWithALargeTransfer) {
  if (!sync::enable_asymmetric_here()) GTEST_SKIP() << "no membarrier, so nothing is lent";
  start_submitter();
  alarm_.knows = true;
  ASSERT_TRUE(driver_->hold().enter());
  ASSERT_TRUE(driver_->hold().lend(sync::this_thread()));
  EXPECT_EQ(receive_much(), status::posted);
  EXPECT_FALSE(driver_->hold().is_lent());
}

TEST_F(LaneSubmitter, WhoBorrowsALaneExecutesWhatWasLeftForTheExecutorMeanwhile) {
  if (!sync::enable_asymmetric_here()) GTEST_SKIP() << "no membarrier, so nothing is lent";
  start_submitter();
  ASSERT_TRUE(driver_->hold().enter());
  ASSERT_TRUE(driver_->hold().lend(sync::this_thread()));
  const std::string text = "a";
  EXPECT_NE(driver_->commands().leave(
                protocols::send_command(1, 1, std::as_bytes(std::span(text)), ended_)),
            lane_hold::queue::left::full);
  ASSERT_TRUE(driver_->hold().enter());
  driver_->release_unposted();
  EXPECT_EQ(left(), words{"a"});
}

TEST_F(LaneSubmitter, AnotherThreadTakesALaneBackThatIsLent) {
  if (!sync::enable_asymmetric_here()) GTEST_SKIP() << "no membarrier, so nothing is lent";
  start_submitter();
  ASSERT_TRUE(driver_->hold().enter());
  ASSERT_TRUE(driver_->hold().lend(sync::this_thread()));
  std::thread([&] { EXPECT_EQ(send("a"), status::done); }).join();
  EXPECT_FALSE(driver_->hold().is_lent());
  EXPECT_TRUE(driver_->hold().last_use().contested);
}

TEST_F(LaneSubmitter, WhoBorrowsALaneExecutesWhatOthersHaveQueuedMeanwhile) {
  if (!sync::enable_asymmetric_here()) GTEST_SKIP() << "no membarrier, so nothing is lent";
  start_submitter();
  ASSERT_TRUE(driver_->hold().enter());
  ASSERT_TRUE(driver_->hold().lend(sync::this_thread()));
  ASSERT_TRUE(driver_->hold().enter());
  const std::string text = "a";
  std::thread([&] { EXPECT_EQ(send(text), status::posted); }).join();
  EXPECT_EQ(left(), words{});
  driver_->release(mine_);
  EXPECT_EQ(left(), words{"a"});
  EXPECT_FALSE(driver_->hold().is_lent());
}

TEST_F(LaneSubmitter, WakesTheExecutorForALargeTransferOfALaneThatItDoesNotKnow) {
  start_submitter();
  EXPECT_EQ(receive_much(), status::posted);
  EXPECT_EQ(alarm_.wakes, 1);
}

TEST_F(LaneSubmitter, WakesTheExecutorForALargeTransferWhereThereIsWorkAlready) {
  start_submitter();
  alarm_.knows = true;
  bring_news();
  EXPECT_EQ(receive_much(), status::posted);
  EXPECT_EQ(alarm_.wakes, 1);
}

TEST_F(LaneSubmitter, LetsTheExecutorSleepWhereTheProgramAlwaysWaitsAtOnce) {
  start_submitter();
  for (int i = 0; i < 3; ++i) {
    waiter_->habit().leave(1);
    waiter_->habit().wait(2);
  }
  EXPECT_EQ(receive_much(), status::posted);
  EXPECT_EQ(alarm_.wakes, 0);
}

TEST_F(LaneSubmitter, HandsInAndRingsInModeDedicated) {
  start_submitter(progress_mode::dedicated);
  const std::string text = "a";
  EXPECT_EQ(send(text), status::posted);
  EXPECT_EQ(left(), words{});
  EXPECT_EQ(alarm_.wakes, 1);
  server_->serve(false);
  EXPECT_EQ(left(), words{"a"});
  EXPECT_EQ(ended_.count, 1);
}

TEST_F(LaneSubmitter, LeavesSmallOnesToHelpersInModeIdle) {
  start_submitter(progress_mode::idle);
  const std::string text = "a";
  EXPECT_EQ(send(text), status::posted);
  EXPECT_EQ(driver_->model().counters().left.get(), 1u);
  server_->progress();
  EXPECT_EQ(left(), words{"a"});
}

TEST_F(LaneSubmitter, KnowsAtOnceThatNothingIsInFlight) {
  start_submitter();
  EXPECT_TRUE(submitter_->flushed(1));
  EXPECT_FALSE(submitter_->flushed(2)) << "there is no such rank";
  ASSERT_EQ(submitter_->submit(waiting_command()), status::posted);
  EXPECT_FALSE(submitter_->flushed(1));
}

}  // namespace
}  // namespace heddle::engine
