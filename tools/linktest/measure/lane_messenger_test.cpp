// SPDX-License-Identifier: BSD-3-Clause
// lane_messenger_test.cpp - the messages of the link tester over real lanes, and the ends of waits.
#include "linktest/measure/lane_messenger.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "linktest/measure/kernels.h"
#include "linktest/measure/measure.h"
#include "linktest/plan/pattern.h"
#include "support/ranks.h"

namespace heddle::linktest {
namespace {

using namespace std::chrono_literals;
constexpr auto long_enough = 20s;

class LaneMessenger : public ::testing::TestWithParam<const char*> {
 protected:
  void run(int ranks, const std::function<void(messenger&)>& body) {
    test::run_ranks(ranks, test::settings_for(GetParam()), [&](world& w) {
      abandoned given_up;
      lane path(w);
      bounded_lane bounded(path, long_enough, given_up);
      lane_messenger wire(bounded);
      body(wire);
      w.barrier();
    });
  }
};

TEST_P(LaneMessenger, ExchangesMessagesOfAllSizesBothWays) {
  run(2, [](messenger& wire) {
    const rank self = wire.self(), peer = 1 - self;
    for (const std::size_t bytes : {0u, 1u, 8u, 5000u, 300'000u}) {
      std::vector<std::byte> mine(bytes), theirs(bytes);
      fill_pattern(mine, {self, peer, bytes});
      ASSERT_EQ(wire.exchange(peer, bytes, mine, theirs), status::done);
      EXPECT_EQ(first_wrong(theirs, {peer, self, bytes}), all_right) << bytes;
    }
  });
}

TEST_P(LaneMessenger, PutsABurstIntoItsSlotsInTurn) {
  run(2, [](messenger& wire) {
    for (const std::size_t bytes : {16u, 100'000u}) {
      std::vector<std::byte> data(bytes), slots(3 * bytes);
      fill_pattern(data, {0, 1, 7});
      if (wire.self() == 0) {
        ASSERT_EQ(wire.send_burst(1, bytes, data, 200, 64), status::done);
        continue;
      }
      ASSERT_EQ(wire.recv_burst(0, bytes, slots, bytes, 200), status::done);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(first_wrong(std::span(slots).subspan(i * bytes, bytes), {0, 1, 7}), all_right);
    }
  });
}

TEST_P(LaneMessenger, RefusesAMessageOfAnotherLength) {
  run(2, [](messenger& wire) {
    std::vector<std::byte> data(8), into(9);
    if (wire.self() == 0) {
      EXPECT_EQ(wire.send(1, 1, data), status::done);
    } else {
      EXPECT_EQ(wire.recv(0, 1, into, patience::usual), status::truncated);
    }
  });
}

TEST_P(LaneMessenger, GivesUpASilentPeerAndTakesItsReceivesBack) {
  test::run_ranks(2, test::settings_for(GetParam()), [&](world& w) {
    abandoned given_up;
    lane path(w);
    if (path.self() == 0) {
      bounded_lane short_of_time(path, 20ms, given_up);
      lane_messenger hasty(short_of_time);
      std::vector<std::byte> into(8), slots(64);
      EXPECT_EQ(hasty.recv(1, 1, into, patience::usual), status::peer_lost);
      EXPECT_EQ(hasty.recv_burst(1, 2, slots, 8, 100), status::peer_lost);
      EXPECT_TRUE(given_up.settled()) << "unmatched receives can be taken back";
      // The lane is as good as before.
      bounded_lane bounded(path, long_enough, given_up);
      lane_messenger patient(bounded);
      EXPECT_EQ(patient.send(1, 3, into), status::done);
    } else {
      bounded_lane bounded(path, long_enough, given_up);
      lane_messenger patient(bounded);
      std::vector<std::byte> into(8);
      EXPECT_EQ(patient.recv(0, 3, into, patience::usual), status::done);
    }
    w.barrier();
  });
}

/// Rank 0 waits in a meeting, asking. Rank 1 sends after more than the timeout, or, if it does not
/// answer, when it has been given up.
status meet_late(const std::string& backend, bool peer_answers) {
  constexpr auto timeout = 400ms;  // of a peer whose threads wait for a core
  status seen = status::invalid;
  std::latch given_up_by_0(1);
  std::array<roll_call, 2> all_asked;  // outlive the worlds
  test::run_ranks(2, test::settings_for(backend), [&](world& w) {
    abandoned given_up;
    roll_call& asked = all_asked[static_cast<std::size_t>(w.rank())];
    if (w.rank() == 0 || peer_answers) asked.join(w);
    lane path(w);
    w.barrier();
    std::vector<std::byte> data(8);
    if (w.rank() == 0) {
      bounded_lane short_of_time(path, timeout, given_up, &asked);
      lane_messenger hasty(short_of_time);
      seen = hasty.recv(1, 1, data, patience::meeting);
      given_up_by_0.count_down();
    } else {
      if (peer_answers) {
        std::this_thread::sleep_for(5 * timeout / 2);
      } else {
        given_up_by_0.wait();
      }
      EXPECT_EQ(path.send(0, 1, data), status::done);
    }
    w.barrier();
  });
  return seen;
}

TEST_P(LaneMessenger, WaitsInAMeetingForAPeerThatStillMoves) {
  EXPECT_EQ(meet_late(GetParam(), true), status::done);
}

TEST_P(LaneMessenger, GivesUpInAMeetingAPeerThatDoesNotAnswer) {
  EXPECT_EQ(meet_late(GetParam(), false), status::peer_lost);
}

TEST_P(LaneMessenger, CarriesAWholeMeasurement) {
  options how;
  how.sizes = {8, 50'000};
  how.messages = 3;
  how.warmup = 1;
  how.repetitions = 1;
  how.most_repetitions = 3;
  for (const kernel k : {kernel::semi, kernel::bi, kernel::uni}) {
    how.kernel = k;
    results all(3, k, how.sizes);
    run(3, [&](messenger& wire) {
      std::vector<std::byte> send(50'000), receive(receive_bytes(how));
      meeting ranks(wire);
      visit_log nowhere;
      const run_result mine = measure(ranks, how, {send, receive}, {},
                                      {[](const progress&) {}, [] { return false; }}, nowhere);
      EXPECT_NE(gather_rows(ranks, mine.measured, plan_of(how, 3), all).rows,
                gathered::place::nowhere);
    });
    EXPECT_EQ(all.count(pair_state::measured), 12u);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, LaneMessenger, ::testing::Values("shm", "tcp"),
                         [](const auto& backend) { return std::string(backend.param); });

}  // namespace
}  // namespace heddle::linktest
