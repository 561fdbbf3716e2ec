// SPDX-License-Identifier: BSD-3-Clause
// ucx_perftest_test.cpp - the parser on what ucx_perftest of UCX 1.13.1 really printed, and real
// short runs where it is installed.
#include "contenders/ucx_perftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "harness/programs.h"

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string heading =
    "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n";

double told_by(const std::string& rows) {
  return parse_ucx_output(heading + rows);
}

TEST(UcxOutput, OfAFastTestTakesTheTimeFromTheRate) {
  EXPECT_DOUBLE_EQ(told_by("2000000,0.040,0.060,0.060,126.56,126.56,16588702,16588702\n"),
                   1 / 16588702.0);  // 0.060 has too few digits
}

TEST(UcxOutput, OfASlowTestTakesTheTimeAsPrinted) {
  EXPECT_DOUBLE_EQ(told_by("500,1104.474,1013.758,1013.758,0.01,0.01,986,986\n"), 1013.758e-6);
}

TEST(UcxOutput, OfAVerySlowTestMayHaveNoBandwidthToShow) {
  EXPECT_DOUBLE_EQ(told_by(" 20,17998.061,18294.400,18294.400,0.00,0.00,55,55\n"), 18294.4e-6);
}

TEST(UcxOutput, MayHaveWarningsAroundIt) {
  EXPECT_DOUBLE_EQ(
      parse_ucx_output(
          "[17.123456] [host:123  :0]  parser.c:1911 UCX  WARN  unused env variable\n" + heading +
          "5000,5.498,6.611,6.611,1.15,1.15,151268,151268\n" + "bye, bye\n"),
      6.611e-6);
}

TEST(UcxOutput, OfALongRunCountsTheLastLine) {
  EXPECT_DOUBLE_EQ(told_by("1000,5.0,5.0,5.0,1.0,1.0,200000,200000\n"
                           "2000,4.0,4.0,4.0,2.0,2.0,250000,250000\n"),
                   4e-6);
}

TEST(UcxOutput, MayHaveMoreColumnsInAnotherOrder) {
  EXPECT_DOUBLE_EQ(
      parse_ucx_output(
          "iterations,99.9_percentile_lat,overall_mr,overall_lat,new\n10,9,500000,2,x\n"),
      2e-6);
}

/// That the output is refused, and why.
auto refuses(const char* why) {
  return ThrowsMessage<std::runtime_error>(HasSubstr(why));
}
auto reading(const std::string& output) {
  return [output] { (void)parse_ucx_output(output); };
}

TEST(UcxOutput, WithoutResultsIsQuotedInTheError) {
  EXPECT_THAT(reading("perftest.c:892 UCX ERROR bind() failed: Address already in use\n"),
              refuses("Address already in use"));
  EXPECT_THAT(reading(""), refuses("no line of results"));
  EXPECT_THAT(reading(heading), refuses("no line of results"));
}

TEST(UcxOutput, WithoutANeededColumnNamesIt) {
  EXPECT_THAT(reading("iterations,overall_lat,overall_bw\n1,0.5,1\n"), refuses("overall_mr"));
}

TEST(UcxOutput, WithANumberThatIsNotPositiveIsRefused) {
  EXPECT_THAT(reading(heading + "500,1,1,0.5,1,1,0,0\n"), refuses("overall_mr"));
  EXPECT_THAT(reading(heading + "500,1,1,nan,1,1,5,5\n"), refuses("overall_lat"));
}

TEST(UcxOutput, CutShortIsRefused) {
  EXPECT_THAT(reading(heading + "500,1104.474,101"), refuses("no line of results"));
}

constexpr auto only_what_hangs = 240s;

class Ucx : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("ucx_perftest").empty()) GTEST_SKIP() << "ucx_perftest is not installed";
  }
};

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
        EXPECT_GT(run_ucx(run, only_what_hangs), 0) << backend << ' ' << name;
      }
    }
  }
}

TEST_F(Ucx, ThatTakesTooLongIsKilledAndSaysSo) {
  const ucx_run run{.test = "tag_lat", .backend = "shm", .iterations = 1'000'000'000'000};
  EXPECT_THAT([&] { (void)run_ucx(run, 1s); }, refuses("took too long"));
}

TEST_F(Ucx, ThatFailsShowsWhatItPrinted) {
  const ucx_run run{.test = "no_such_test", .backend = "shm"};
  EXPECT_THAT([&] { (void)run_ucx(run, 60s); }, refuses("Invalid option argument"));
}

TEST(UcxMissing, IsAnErrorThatNamesThePackage) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  EXPECT_THAT([] { (void)find_ucx(); }, refuses("ucx-utils"));
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace heddle::bench
