// SPDX-License-Identifier: BSD-3-Clause
// ucx_perftest_test.cpp - the parser on what ucx_perftest of UCX 1.13.1 really printed, and real
// short runs where it is installed.
#include "contenders/ucx_perftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string heading =
    "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n";

TEST(UcxOutput, GivesTheTimeOfTheLastLineOfResults) {
  const struct {
    const char* what;
    std::string output;
    double seconds;
  } table[]{
      {"0.060 has too few digits: by the rate",
       heading + "2000000,0.040,0.060,0.060,126.56,126.56,16588702,16588702\n", 1 / 16588702.0},
      {"slow: as printed", heading + "500,1104.474,1013.758,1013.758,0.01,0.01,986,986\n",
       1013.758e-6},
      {"no bandwidth to show", heading + " 20,17998.061,18294.400,18294.400,0.00,0.00,55,55\n",
       18294.4e-6},
      {"warnings around it",
       "[17.123456] [host:123  :0]  parser.c:1911 UCX  WARN  unused env variable\n" + heading +
           "5000,5.498,6.611,6.611,1.15,1.15,151268,151268\nbye, bye\n",
       6.611e-6},
      {"a long run",
       heading + "1000,5.0,5.0,5.0,1.0,1.0,200000,200000\n2000,4.0,4.0,4.0,2.0,2.0,250000,250000\n",
       4e-6},
      {"more columns in another order",
       "iterations,99.9_percentile_lat,overall_mr,overall_lat,new\n10,9,500000,2,x\n", 2e-6}};
  for (const auto& [what, output, seconds] : table)
    EXPECT_DOUBLE_EQ(parse_ucx_output(output), seconds) << what;
}

/// That it is refused, and why.
auto refuses(const char* why) {
  return ThrowsMessage<std::runtime_error>(HasSubstr(why));
}

TEST(UcxOutput, WithoutPositiveResultsIsQuotedInTheError) {
  const std::pair<std::string, const char*> table[]{
      {"perftest.c:892 UCX ERROR bind() failed: Address already in use\n",
       "Address already in use"},
      {"", "no line of results"},
      {heading, "no line of results"},
      {heading + "500,1104.474,101", "no line of results"},
      {"iterations,overall_lat,overall_bw\n1,0.5,1\n", "overall_mr"},
      {heading + "500,1,1,0.5,1,1,0,0\n", "overall_mr"},
      {heading + "500,1,1,nan,1,1,5,5\n", "overall_lat"}};
  for (const auto& row : table)
    EXPECT_THAT([&] { (void)parse_ucx_output(row.first); }, refuses(row.second));
}

class Ucx : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("ucx_perftest").empty()) GTEST_SKIP() << "ucx_perftest is not installed";
  }
  static double round(const spec& s, const std::string& backend, std::chrono::seconds limit,
                      std::uint64_t iterations = 100) {
    return ucx_round({.what = s, .backend = backend, .limit = limit}, iterations);
  }
};

// A short time: where other programs have the cores, each end of a ping-pong that spins is given
// one only when the other's time slice is over.
TEST_F(Ucx, RunsEveryTestOnBothBackends) {
  for (const std::string backend : {"shm", "tcp"}) {
    for (const auto& [name, op] : choices<operation>()) {
      for (const kind what : {kind::latency, kind::rate}) {
        const spec s{.what = what, .op = op, .window = 4, .time = 0ms};
        EXPECT_GT(round(s, backend, 240s), 0) << backend << ' ' << name;
      }
    }
  }
}

TEST_F(Ucx, ThatTakesTooLongIsKilledAndSaysSo) {
  EXPECT_THAT(
      [] { (void)round({.op = operation::tag, .time = 1ms}, "shm", 1s, 1'000'000'000'000); },
      refuses("took too long"));
}

TEST_F(Ucx, ThatFailsShowsWhatItPrinted) {
  EXPECT_THAT([] { (void)round({.time = 1ms}, "no_such_wire", 60s); }, refuses("UCX  ERROR"));
}

TEST(UcxMissing, IsAnErrorThatNamesThePackage) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  EXPECT_THAT([] { (void)find_ucx(); }, refuses("ucx-utils"));
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace heddle::bench
