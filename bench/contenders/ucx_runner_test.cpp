// SPDX-License-Identifier: BSD-3-Clause
// ucx_runner_test.cpp - real short runs of ucx_perftest where it is installed.
#include "contenders/ucx_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "harness/child.h"

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto only_what_hangs = 240s;

class Ucx : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("ucx_perftest").empty()) GTEST_SKIP() << "ucx_perftest is not installed";
  }
};

template <class F>
std::string failure_of(F&& attempt) {
  try {
    (void)attempt();
  } catch (const std::runtime_error& why) {
    return why.what();
  }
  return "did not fail";
}

// Few iterations: where other programs have the cores, each end of a ping-pong that spins is given
// one only when the other's time slice is over.
TEST_F(Ucx, RunsEveryTestOnBothBackends) {
  for (const std::string backend : {"shm", "tcp"}) {
    for (const auto& [name, op] : choices<operation>()) {
      for (const kind what : {kind::latency, kind::rate}) {
        const ucx_run run{.test = ucx_test_for(what, op),
                          .backend = backend,
                          .outstanding = 4,
                          .iterations = 100};
        const ucx_result result = run_ucx(run, only_what_hangs);
        EXPECT_EQ(result.iterations, run.iterations) << backend << ' ' << name;
        EXPECT_GT(result.seconds_per_op, 0) << backend << ' ' << name;
      }
    }
  }
}

TEST_F(Ucx, ThatTakesTooLongIsKilledAndSaysSo) {
  const ucx_run run{.test = "tag_lat", .backend = "shm", .iterations = 1'000'000'000'000};
  EXPECT_THAT(failure_of([&] { return run_ucx(run, 1s); }), HasSubstr("took too long"));
}

TEST_F(Ucx, ThatFailsShowsWhatItPrinted) {
  const ucx_run run{.test = "no_such_test", .backend = "shm"};
  EXPECT_THAT(failure_of([&] { return run_ucx(run, 60s); }), HasSubstr("Invalid option argument"));
}

TEST(UcxMissing, IsAnErrorThatNamesThePackage) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const std::string failure = failure_of([] { return find_ucx(); });
  setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(failure, HasSubstr("ucx-utils"));
}

}  // namespace
}  // namespace heddle::bench
