// SPDX-License-Identifier: BSD-3-Clause
// peer_death_test.cpp - real processes: a rank is killed or stopped at each step of the protocols,
// and every operation ends once, with peer_lost (I7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "system/child.h"

namespace heddle::test {
namespace {

class PeerDeath : public testing::TestWithParam<std::tuple<std::string, std::string, std::string>> {
};

TEST_P(PeerDeath, EndsTheOperationWithPeerLostAndTheOthersGoOn) {
  const auto& [backend, end, step] = GetParam();
  // What one process reads and writes in another goes on when that one is stopped.
  const bool direct = step == "put" || step == "get";
  if (backend == "shm" && end == "stop" && direct) GTEST_SKIP() << "works on a stopped peer";
  const auto how = run(heddle_run({"-n", "3", "--keep-going", "--env", "HEDDLE_BACKENDS=" + backend,
                                   "--env", "HEDDLE_PEER_TIMEOUT_MS=5000"},
                                  {DOOMED_JOB, end, step}));
  EXPECT_EQ(how.status, 128 + 9) << how.out << how.err;  // rank 1's; the others succeed
  EXPECT_THAT(how.err, testing::Not(testing::HasSubstr("rank 0 (")));
  EXPECT_THAT(how.err, testing::Not(testing::HasSubstr("rank 2 (")));
}

class Survivors : public testing::TestWithParam<std::string> {};

TEST_P(Survivors, OfARankThatIsKilledInACollectiveGoOnAsAGroup) {
  const auto how =
      run(heddle_run({"-n", "4", "--keep-going", "--env", "HEDDLE_BACKENDS=" + GetParam(), "--env",
                      "HEDDLE_PEER_TIMEOUT_MS=5000"},
                     {SURVIVING_JOB}));
  EXPECT_EQ(how.status, 128 + 9) << how.out << how.err;  // rank 1's; the others succeed
  EXPECT_THAT(how.err, testing::Not(testing::HasSubstr("something is wrong")));
}

INSTANTIATE_TEST_SUITE_P(On, Survivors, testing::Values("shm", "tcp"));

INSTANTIATE_TEST_SUITE_P(Ways, PeerDeath,
                         testing::Combine(testing::Values("shm", "tcp"),
                                          testing::Values("kill", "stop"),
                                          testing::Values("receive", "unmatched_send",
                                                          "large_receive", "put", "get", "atomic",
                                                          "call")),
                         [](const auto& tested) {
                           return std::get<0>(tested.param) + "_" + std::get<1>(tested.param) +
                                  "_" + std::get<2>(tested.param);
                         });

}  // namespace
}  // namespace heddle::test
