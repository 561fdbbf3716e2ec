// SPDX-License-Identifier: BSD-3-Clause
// lane_sleep_test.cpp - what wakes a lane, and what does not, without an endpoint.
#include "backends/shm/lane_sleep.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "backends/shm/known_peers.h"
#include "backends/shm/own_segment.h"

namespace heddle::transport::shm {
namespace {

struct LaneSleep : testing::Test {
  [[nodiscard]] bool is_woken() const { return is_readable(sleep.fd()); }
  std::size_t ended() { return sleep.find_ended(found); }

  own_segment here{0};
  lane_slot& slot = here.memory().lanes[0];
  lane_sleep sleep{slot};
  lane_sleep::ended_ranks found{};
};

TEST_F(LaneSleep, ShowsItsBellOnlyWhileItIsToBeRung) {
  EXPECT_LT(slot.bell.get(), 0);
  sleep.show_bell();
  EXPECT_GE(slot.bell.get(), 0);
  sleep.mark_asleep();
  sleep.hide_bell();
  EXPECT_LT(slot.bell.get(), 0);
  EXPECT_FALSE(slot.asleep.seems_asleep());
}

TEST_F(LaneSleep, IsSeenByPeersUntilItGetsUp) {
  sleep.mark_asleep();
  EXPECT_TRUE(sleep.is_asleep());
  EXPECT_TRUE(slot.asleep.seems_asleep());
  sleep.mark_awake();
  EXPECT_FALSE(sleep.is_asleep());
  EXPECT_FALSE(slot.asleep.seems_asleep());
}

TEST_F(LaneSleep, EndsWithTheBellThatGettingUpSilences) {
  sleep.mark_asleep();
  EXPECT_FALSE(is_woken());
  sleep.wake();
  EXPECT_TRUE(is_woken());
  EXPECT_EQ(ended(), 0);
  EXPECT_TRUE(is_woken()) << "to look for ends leaves the bell alone";
  sleep.mark_awake();
  EXPECT_FALSE(is_woken());
}

TEST_F(LaneSleep, IsNotDisturbedByOurOwnProcess) {
  const peer_process ourselves(here.where(), false);
  sleep.watch(ourselves);
  EXPECT_FALSE(is_woken());
  sleep.unwatch(ourselves);
}

/// A process with a segment, as rank 1, that lives until it is killed.
struct other_process {
  other_process() {
    const bell_pipe said = make_bell();
    pid = fork();
    if (pid == 0) {
      const own_segment mine(1);
      const peer_address at = mine.where();
      if (write(said.write.get(), &at, sizeof at) == sizeof at) pause();
      _exit(1);
    }
    pollfd come{said.read.get(), POLLIN, 0};
    EXPECT_EQ(poll(&come, 1, 10'000), 1);
    EXPECT_EQ(read(said.read.get(), &where, sizeof where), sizeof where);
  }
  ~other_process() { kill_it(); }
  void kill_it() {
    if (pid > 0) kill(pid, SIGKILL);
    if (pid > 0) waitpid(pid, nullptr, 0);
    pid = -1;
  }
  pid_t pid = -1;
  peer_address where;
};

TEST_F(LaneSleep, EndsWithAPeerThatIsWatched) {
  other_process there;
  const peer_process peer(there.where, false);
  sleep.watch(peer);
  EXPECT_FALSE(is_woken());
  EXPECT_EQ(ended(), 0);
  there.kill_it();
  EXPECT_TRUE(is_woken());
  ASSERT_EQ(ended(), 1);
  EXPECT_EQ(found[0], 1);
  sleep.unwatch(peer);
  EXPECT_FALSE(is_woken());
  EXPECT_EQ(ended(), 0);
}

TEST_F(LaneSleep, EndsWhenAPeerIsAddedThatMayHaveAnnouncedARing) {
  known_peers peers(false, 2);
  peers.add_sleeper(sleep);
  peers.add(own_credentials(), here.where(), nullptr);
  EXPECT_TRUE(is_woken());
}

}  // namespace
}  // namespace heddle::transport::shm
