// SPDX-License-Identifier: BSD-3-Clause
// ucx_output_test.cpp - the parser on what ucx_perftest of UCX 1.13.1 really printed.
#include "contenders/ucx_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace heddle::bench {
namespace {

using testing::HasSubstr;

const std::string heading =
    "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n";

TEST(UcxOutput, OfAFastTestTakesTheTimeFromTheRate) {
  const ucx_result r =
      parse_ucx_output(heading + "2000000,0.040,0.060,0.060,126.56,126.56,16588702,16588702\n");
  EXPECT_EQ(r.iterations, 2'000'000u);
  EXPECT_DOUBLE_EQ(r.seconds_per_op, 1 / 16588702.0);  // 0.060 has too few digits
}

TEST(UcxOutput, OfASlowTestTakesTheTimeAsPrinted) {
  const ucx_result r =
      parse_ucx_output(heading + "500,1104.474,1013.758,1013.758,0.01,0.01,986,986\n");
  EXPECT_DOUBLE_EQ(r.seconds_per_op, 1013.758e-6);
}

TEST(UcxOutput, OfAVerySlowTestMayHaveNoBandwidthToShow) {
  const ucx_result r =
      parse_ucx_output(heading + "20,17998.061,18294.400,18294.400,0.00,0.00,55,55\n");
  EXPECT_DOUBLE_EQ(r.seconds_per_op, 18294.4e-6);
}

TEST(UcxOutput, MayHaveWarningsAroundIt) {
  const ucx_result r = parse_ucx_output(
      "[1700000000.123456] [host:123  :0]  parser.c:1911 UCX  WARN  unused env variable\n" +
      heading + "5000,5.498,6.611,6.611,1.15,1.15,151268,151268\n" + "bye, bye\n");
  EXPECT_EQ(r.iterations, 5000u);
}

TEST(UcxOutput, OfALongRunCountsTheLastLine) {
  const ucx_result r = parse_ucx_output(heading + "1000,5.0,5.0,5.0,1.0,1.0,200000,200000\n" +
                                        "2000,4.0,4.0,4.0,2.0,2.0,250000,250000\n");
  EXPECT_EQ(r.iterations, 2000u);
}

TEST(UcxOutput, MayHaveMoreColumnsInAnotherOrder) {
  const ucx_result r = parse_ucx_output(
      "iterations,99.9_percentile_lat,overall_mr,overall_lat,new\n10,9,500000,2,x\n");
  EXPECT_DOUBLE_EQ(r.seconds_per_op, 2e-6);
}

std::string refusal(const std::string& output) {
  try {
    (void)parse_ucx_output(output);
  } catch (const std::runtime_error& why) {
    return why.what();
  }
  return "accepted";
}

TEST(UcxOutput, WithoutResultsIsQuotedInTheError) {
  EXPECT_THAT(refusal("perftest.c:892 UCX ERROR bind() failed: Address already in use\n"),
              HasSubstr("Address already in use"));
  EXPECT_THAT(refusal(""), HasSubstr("no line of results"));
  EXPECT_THAT(refusal(heading), HasSubstr("no line of results"));
}

TEST(UcxOutput, WithoutANeededColumnNamesIt) {
  EXPECT_THAT(refusal("iterations,overall_lat,overall_bw\n1,0.5,1\n"), HasSubstr("overall_mr"));
}

TEST(UcxOutput, WithANumberThatIsNotPositiveIsRefused) {
  EXPECT_THAT(refusal(heading + "500,1,1,0.5,1,1,0,0\n"), HasSubstr("overall_mr"));
  EXPECT_THAT(refusal(heading + "500,1,1,nan,1,1,5,5\n"), HasSubstr("overall_lat"));
}

TEST(UcxOutput, CutShortIsRefused) {
  EXPECT_THAT(refusal(heading + "500,1104.474,101"), HasSubstr("no line of results"));
}

}  // namespace
}  // namespace heddle::bench
