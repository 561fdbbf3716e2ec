// offload_report_test.cpp - what made-up rounds cost in cache lines.
#include "bench/offload_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

using testing::HasSubstr;

/// A cache line of 40 ns, and of 160 ns in a slow moment of the machine, when all is as slow.
constexpr offload_round usual{{20e-9, 30e-9}, {60e-9, 230e-9}, 40e-9};
constexpr offload_round slow{{80e-9, 120e-9}, {240e-9, 920e-9}, 160e-9};

double median_of(const char* op, const char* metric) {
  for (const record& r : offload_records(8, {usual, slow, usual})) {
    if (r.op == op && r.metric == metric) return r.median;
  }
  throw std::runtime_error("no such record");
}

TEST(OffloadReport, CountsInTheCacheLinesOfTheSameRound) {
  EXPECT_DOUBLE_EQ(median_of("dedicated", "overhead_lines"), 1.5);
  EXPECT_DOUBLE_EQ(median_of("dedicated", "added_lines"), 5);
}

TEST(OffloadReport, RecordsTheTimesOfBothModes) {
  EXPECT_NEAR(median_of("inline", "latency"), 0.03, 1e-12);
  EXPECT_NEAR(median_of("dedicated", "latency"), 0.23, 1e-12);
  EXPECT_NEAR(median_of("dedicated", "overhead"), 0.06, 1e-12);
  EXPECT_NEAR(median_of("cache-line", "one-way"), 40, 1e-9);
}

TEST(OffloadReport, PrintsEveryRoundAndTheirMedians) {
  EXPECT_THAT(offload_heading(), HasSubstr("added, lines"));
  EXPECT_THAT(offload_line(2, slow), HasSubstr("160.000"));
  EXPECT_THAT(offload_summary({usual, slow, usual}), HasSubstr("40.000"));
}

}  // namespace
}  // namespace heddle::bench
