// SPDX-License-Identifier: BSD-3-Clause
// peer_death_test.cpp - real processes: a rank is killed or stopped at each step of the protocols,
// and every operation ends once, with peer_lost (I7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <tuple>
#include <vector>

#include "system/child.h"

namespace heddle::test {
namespace {

/// The options of so many ranks over it, on software devices of their own.
std::vector<std::string> over(const std::string& backend, const char* ranks) {
  std::vector<std::string> out{"-n", ranks, "--keep-going"};
  const auto set = [&out](const std::string& variable) {
    out.insert(out.end(), {"--env", variable});
  };
  const std::string job = "death-" + std::to_string(getpid());
  set("HEDDLE_BACKENDS=" + backend);
  set("HEDDLE_PEER_TIMEOUT_MS=5000");
  set("SOFTTOFU_JOB=" + job);
#ifdef HEDDLE_TESTS_SOFTHCA
  if (backend == "verbs") {
    set("LD_PRELOAD=" HEDDLE_TESTS_SOFTHCA);
    set("SOFTHCA_MODE=engine");
    set("SOFTHCA_JOB=" + job);
  }
#endif
  return out;
}

/// Those with a card. A process that is stopped while it does a software card's work keeps what it
/// has locked, which no hardware does; so there ranks are only killed.
std::vector<std::string> cards() {
  std::vector<std::string> all;
#ifdef HEDDLE_TESTS_UTOFU
  all.emplace_back("utofu");
#endif
#ifdef HEDDLE_TESTS_SOFTHCA
  all.emplace_back("verbs");
#endif
  return all;
}

/// Backend, end and step.
using death = std::tuple<std::string, std::string, std::string>;
class PeerDeath : public testing::TestWithParam<death> {};

std::string name_of(const testing::TestParamInfo<death>& tested) {
  const auto& [backend, end, step] = tested.param;
  return "over_" + backend + "_" + end + "_" + step;
}

TEST_P(PeerDeath, EndsTheOperationWithPeerLostAndTheOthersGoOn) {
  const auto& [backend, end, step] = GetParam();
  // What one process reads and writes in another goes on when that one is stopped.
  const bool direct = step == "put" || step == "get";
  if (backend == "shm" && end == "stop" && direct) GTEST_SKIP() << "works on a stopped peer";
  const auto how = run(heddle_run(over(backend, "3"), {DOOMED_JOB, end, step}));
  EXPECT_EQ(how.status, 128 + 9) << how.out << how.err;  // rank 1's; the others succeed
  EXPECT_THAT(how.err, testing::Not(testing::HasSubstr("rank 0 (")));
  EXPECT_THAT(how.err, testing::Not(testing::HasSubstr("rank 2 (")));
}

class Survivors : public testing::TestWithParam<std::string> {};

TEST_P(Survivors, OfARankThatIsKilledInACollectiveGoOnAsAGroup) {
  const auto how = run(heddle_run(over(GetParam(), "4"), {SURVIVING_JOB}));
  EXPECT_EQ(how.status, 128 + 9) << how.out << how.err;  // rank 1's; the others succeed
  EXPECT_THAT(how.err, testing::Not(testing::HasSubstr("something is wrong")));
}

INSTANTIATE_TEST_SUITE_P(On, Survivors, testing::Values("shm", "tcp"));
INSTANTIATE_TEST_SUITE_P(Cards, Survivors, testing::ValuesIn(cards()));

const auto steps =
    testing::Values("receive", "unmatched_send", "large_receive", "put", "get", "atomic", "call");
INSTANTIATE_TEST_SUITE_P(Ways, PeerDeath,
                         testing::Combine(testing::Values("shm", "tcp"),
                                          testing::Values("kill", "stop"), steps),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cards, PeerDeath,
                         testing::Combine(testing::ValuesIn(cards()), testing::Values("kill"),
                                          steps),
                         name_of);
}  // namespace
}  // namespace heddle::test
