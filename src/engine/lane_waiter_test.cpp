// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_waiter.h"

#include <thread>

#include "support/lane_fixture.h"

namespace heddle::engine {
namespace {

constexpr std::uint64_t past = 1;

class LaneWaiter : public LaneFixture {
 protected:
  LaneWaiter() : waiter_(start()) {}
  /// Raises the signal where it ends.
  protocols::command raising_command() {
    protocols::command c = short_command();
    const auto raise = [](void* s, std::uint64_t, const outcome&) noexcept {
      static_cast<detail::signal*>(s)->raise();
    };
    c.done = {raise, &signal_, 0};
    return c;
  }
  detail::signal signal_;
  lane_waiter waiter_;
};

TEST_F(LaneWaiter, IsThroughWhenTheCountIsThereAlready) {
  signal_.raise();
  ASSERT_TRUE(driver_->hold().enter());
  EXPECT_TRUE(waiter_.wait(signal_, 1, 0));
  driver_->release(other_);
}

TEST_F(LaneWaiter, ExecutesWhatItWaitsFor) {
  (void)driver_->commands().leave(raising_command());
  EXPECT_TRUE(waiter_.wait(signal_, 1, 0));
  EXPECT_EQ(waiter_.threads(), 0);
}

TEST_F(LaneWaiter, EndsAtItsDeadline) {
  EXPECT_FALSE(waiter_.wait(signal_, 1, past));
}

TEST_F(LaneWaiter, GivesUpWhenTheWorldHasEnded) {
  EXPECT_TRUE(waiter_.part());
  EXPECT_FALSE(waiter_.wait(signal_, 1, 0));
}

TEST_F(LaneWaiter, IsCountedWhileItWaits) {
  ASSERT_TRUE(driver_->hold().enter());
  std::thread waiting([this] { EXPECT_TRUE(waiter_.wait(signal_, 1, 0)); });
  while (waiter_.threads() == 0) std::this_thread::yield();
  signal_.raise();
  waiting.join();
  EXPECT_EQ(waiter_.threads(), 0);
  driver_->release(other_);
}

TEST_F(LaneWaiter, PollsAtOnceForABlockingFormThatIsAlone) {
  bring_news();
  ASSERT_TRUE(driver_->hold().enter());
  waiter_.poll_at_once(signal_, mine_);
  driver_->release(mine_);
  EXPECT_TRUE(wire_.events.empty());
}

TEST_F(LaneWaiter, TellsTheWireFromWhichCoreItLooks) {
  EXPECT_FALSE(waiter_.wait(signal_, 1, past));
  EXPECT_GE(wire_.looked_from, 0);
}

TEST_F(LaneWaiter, IsNotAwayAnyMoreWhenItsWaitIsOver) {
  wire_.shares_core = true;
  EXPECT_FALSE(waiter_.wait(signal_, 1, past));
  EXPECT_FALSE(driver_->parking().is_away());
}

TEST_F(LaneWaiter, TakesShortTurnsWhereRanksShareCores) {
  EXPECT_FALSE(waiter_.wait(signal_, 1, past));
  const int long_turns = std::exchange(wire_.polls, 0);
  lane_driver& crowded = start(progress_mode::adaptive, 2);
  EXPECT_FALSE(lane_waiter(crowded).wait(signal_, 1, past));
  EXPECT_LT(4 * wire_.polls, long_turns);
}

// Another thread queues something just as the waiting one looks, which executes it as it lets go.
TEST_F(LaneWaiter, DeliversWhatItExecutedWhileItLookedAtItsCore) {
  wire_.when_looked = [this] { (void)driver_->commands().leave(short_command()); };
  EXPECT_FALSE(waiter_.wait(signal_, 1, past));
  EXPECT_TRUE(mine_.empty());
  EXPECT_NE(ended_.count, 0);
}

TEST_F(LaneWaiter, TellsTheModelHowLongTheProgramComputed) {
  waiter_.habit().leave(1);
  signal_.raise();
  EXPECT_TRUE(waiter_.wait(signal_, 1, 0));
  EXPECT_NE(driver_->model().now().compute_ns, 0u);
  EXPECT_FALSE(waiter_.habit().has_left());
}

}  // namespace
}  // namespace heddle::engine
