// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_questions.h"

#include <thread>

#include "support/lane_fixture.h"
#include "sync/relaxed.h"

namespace heddle::engine {
namespace {

class LaneQuestions : public LaneFixture {
 protected:
  lane_questions& start_questions(progress_mode mode = progress_mode::adaptive) {
    start(mode);
    end_ = std::make_unique<lane_end>(*driver_);
    server_ = std::make_unique<lane_server>(*driver_);
    questions_ = std::make_unique<lane_questions>(*driver_, *server_, *end_);
    return *questions_;
  }
  status probe() {
    outcome found;
    return questions_->probe(1, tag{1}, found);
  }
  std::unique_ptr<lane_end> end_;
  std::unique_ptr<lane_server> server_;
  std::unique_ptr<lane_questions> questions_;
};

TEST_F(LaneQuestions, APollTakesTheNews) {
  start_questions();
  bring_news();
  EXPECT_EQ(questions_->poll(), 1u);
  EXPECT_TRUE(wire_.events.empty());
}

TEST_F(LaneQuestions, APollExecutesAndDeliversWhatIsQueued) {
  start_questions();
  (void)driver_->commands().leave(short_command());
  questions_->poll();
  EXPECT_EQ(ended_.count, 1);
}

TEST_F(LaneQuestions, APollOfALaneThatIsHeldDoesNothing) {
  start_questions();
  bring_news();
  ASSERT_TRUE(driver_->hold().enter());
  EXPECT_EQ(questions_->poll(), 0u);
  EXPECT_EQ(wire_.events.size(), 1u);
  driver_->release(mine_);
}

TEST_F(LaneQuestions, APollDoesTheExecutorsDutiesInModeInline) {
  start_questions(progress_mode::inline_only).poll();
  EXPECT_EQ(keeper_.turns, 1);
}

TEST_F(LaneQuestions, APollLeavesADedicatedLaneToItsExecutor) {
  start_questions(progress_mode::dedicated);
  bring_news();
  EXPECT_EQ(questions_->poll(), 0u);
  EXPECT_EQ(wire_.events.size(), 1u);
}

TEST_F(LaneQuestions, AnswerBusyWhileTheLaneIsHeldAndClosedBehindItsEnd) {
  start_questions();
  EXPECT_EQ(probe(), status::not_found);
  ASSERT_TRUE(driver_->hold().enter());
  EXPECT_EQ(probe(), status::busy_lane);
  driver_->release(mine_);
  end_->come(mine_);
  EXPECT_EQ(probe(), status::closed);
}

TEST_F(LaneQuestions, CancelAReceiveThatIsStillQueued) {
  start_questions();
  (void)driver_->commands().leave(waiting_command());
  EXPECT_EQ(questions_->cancel(ended_), status::done);
  EXPECT_EQ(ended_.count, 1);
  EXPECT_EQ(ended_.code, status::canceled);
}

TEST_F(LaneQuestions, ACancelOfWhatMayStillBeQueuedAsksToBeAskedAgain) {
  start_questions();
  ending others;
  protocols::command before = short_command();
  before.done = others;
  for (std::size_t i = 0; i < lane_driver::drain_limit; ++i)
    (void)driver_->commands().leave(before);
  (void)driver_->commands().leave(waiting_command());
  EXPECT_EQ(questions_->cancel(ended_), status::busy_lane);
  EXPECT_EQ(ended_.count, 0);
  EXPECT_EQ(alarm_.wakes, 1) << "the executor takes the rest";
  EXPECT_EQ(questions_->cancel(ended_), status::done);
  EXPECT_EQ(ended_.code, status::canceled);
}

TEST_F(LaneQuestions, AReportLeavesWhatIsQueuedToTheExecutor) {
  start_questions();
  (void)driver_->commands().leave(short_command());
  protocols::port_report found;
  EXPECT_TRUE(questions_->report(1, found));
  EXPECT_EQ(ended_.count, 0);
  EXPECT_EQ(alarm_.wakes, 1);
}

// It lets go for some microseconds at a time, and leaves its core to who asks.
TEST_F(LaneQuestions, AReportIsGivenWhileADedicatedExecutorServesWithoutRest) {
  start_questions(progress_mode::dedicated);
  sync::relaxed<bool> over;
  std::thread executor([&] {
    while (!over.get()) server_->serve(true);
    server_->dismiss();
  });
  for (std::uint64_t look = 1; look <= 20; ++look) {
    protocols::port_report found;
    EXPECT_TRUE(questions_->report(look, found)) << look;
  }
  over.set(true);
  executor.join();
}

}  // namespace
}  // namespace heddle::engine
