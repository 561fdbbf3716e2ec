// SPDX-License-Identifier: BSD-3-Clause
// silence_test.cpp - a peer is given up for being silent only after this rank has asked it and has
// looked for the answer, whatever the program did meanwhile. Takes some seconds.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "support/ranks.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

constexpr auto peer_timeout = 2s;
/// Long enough for this rank to look at its peers and find them silent.
constexpr auto some_looks = 600ms;
/// Longer than a peer may be silent.
constexpr auto computation = 2500ms;

class Silence : public testing::TestWithParam<const char*> {
 protected:
  /// Rank 1 is silent from the start of rank 0's wait until long after its computation.
  static void run(const std::function<void(lane&)>& rank_0) {
    settings config = settings_for("shm");
    config.progress = GetParam();
    config.peer_timeout_ms = std::chrono::milliseconds(peer_timeout).count();
    run_ranks(2, config, [&](world& w) {
      lane l(w);
      std::byte data{5};
      w.barrier();
      if (w.rank() == 0) return rank_0(l);
      std::this_thread::sleep_for(some_looks + computation + some_looks);
      EXPECT_EQ(l.send(0, 2, {&data, 1}), status::done);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, Silence, testing::Values("adaptive", "inline"),
                         [](const auto& p) { return std::string(p.param); });

TEST_P(Silence, DuringAComputationIsNotHeldAgainstAPeer) {
  run([](lane& l) {
    std::byte into{};
    flag came;
    ASSERT_EQ(l.try_recv(1, 2, {&into, 1}, came), status::posted);
    EXPECT_FALSE(l.wait_for(came, some_looks));
    std::this_thread::sleep_for(computation);
    EXPECT_EQ(l.wait(came), status::done);
  });
}

TEST_P(Silence, WhileNothingWasExpectedIsNotHeldAgainstAPeer) {
  run([](lane& l) {
    std::byte into{};
    EXPECT_EQ(l.recv_for(1, 2, {&into, 1}, some_looks).code, status::timed_out);
    std::this_thread::sleep_for(computation);
    EXPECT_EQ(l.recv(1, 2, {&into, 1}).code, status::done);
  });
}

}  // namespace
}  // namespace heddle::test
