// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_end.h"

#include "support/lane_fixture.h"

namespace heddle::engine {
namespace {

class LaneEnd : public LaneFixture {
 protected:
  lane_end end_{start()};
};

TEST_F(LaneEnd, EndsWhatIsQueuedAndWhatWaits) {
  (void)driver_->commands().leave(waiting_command());
  EXPECT_FALSE(end_.has_come());
  end_.come(mine_);
  EXPECT_TRUE(end_.has_come());
  EXPECT_EQ(ended_.count, 1);
  EXPECT_EQ(ended_.code, status::closed);
}

TEST_F(LaneEnd, LetsNobodyInAnyMore) {
  end_.come(mine_);
  EXPECT_FALSE(driver_->hold().enter());
}

TEST_F(LaneEnd, WhoQueuesSomethingAfterItEndsThatHimself) {
  end_.come(mine_);
  (void)driver_->commands().leave(waiting_command());
  end_.look_after_queue(mine_);
  EXPECT_EQ(ended_.count, 1);
  EXPECT_EQ(ended_.code, status::closed);
}

TEST_F(LaneEnd, LeavesTheQueueAloneBeforeItComes) {
  (void)driver_->commands().leave(waiting_command());
  end_.look_after_queue(mine_);
  EXPECT_EQ(ended_.count, 0);
  end_.come(mine_);
}

}  // namespace
}  // namespace heddle::engine
