// lane_messenger_test.cpp - the messages of the link tester over real lanes, and the ends of waits.
#include "linktest/lane_messenger.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "linktest/kernels.h"
#include "linktest/measure.h"
#include "linktest/pattern.h"
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
      lane_messenger wire(path, long_enough, given_up);
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
        ASSERT_EQ(wire.send_burst(1, bytes, data, 200), status::done);
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
      lane_messenger hasty(path, 20ms, given_up);
      std::vector<std::byte> into(8), slots(64);
      EXPECT_EQ(hasty.recv(1, 1, into, patience::usual), status::peer_lost);
      EXPECT_EQ(hasty.recv_burst(1, 2, slots, 8, 100), status::peer_lost);
      EXPECT_TRUE(given_up.settled()) << "unmatched receives can be taken back";
      // The lane is as good as before.
      lane_messenger patient(path, long_enough, given_up);
      EXPECT_EQ(patient.send(1, 3, into), status::done);
    } else {
      lane_messenger patient(path, long_enough, given_up);
      std::vector<std::byte> into(8);
      EXPECT_EQ(patient.recv(0, 3, into, patience::usual), status::done);
    }
    w.barrier();
  });
}

TEST_P(LaneMessenger, CarriesAWholeMeasurement) {
  options how;
  how.sizes = {8, 50'000};
  how.messages = 3;
  how.warmup = 1;
  how.repetitions = 1;
  for (const kernel k : {kernel::semi, kernel::bi, kernel::uni}) {
    how.kernel = k;
    results all(3, k, how.sizes);
    run(3, [&](messenger& wire) {
      std::vector<std::byte> send(50'000), receive(receive_bytes(k, how.sizes));
      meeting ranks(wire);
      const run_result mine =
          measure(ranks, how, {send, receive}, {[](const progress&) {}, [] { return false; }});
      EXPECT_NE(gather_rows(ranks, mine.measured, all).rows, gathered::place::nowhere);
    });
    EXPECT_EQ(all.count(pair_state::measured), 12u);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, LaneMessenger, ::testing::Values("shm", "tcp"),
                         [](const auto& backend) { return std::string(backend.param); });

}  // namespace
}  // namespace heddle::linktest
