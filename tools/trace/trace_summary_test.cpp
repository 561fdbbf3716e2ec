// SPDX-License-Identifier: BSD-3-Clause
#include "trace/trace_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

namespace heddle::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json slice(const char* name, double ts, double dur, const char* category = "operation") {
  return {{"name", name}, {"cat", category}, {"ph", "X"}, {"ts", ts},
          {"dur", dur},   {"pid", 0},        {"tid", 5},  {"args", {{"status", "done"}}}};
}
json half(const char* phase, double ts, const char* id, const char* status = "done") {
  return {{"name", "recv"},
          {"cat", "operation"},
          {"ph", phase},
          {"ts", ts},
          {"pid", 0},
          {"tid", 5},
          {"args", {{"status", status}}},
          {"id2", {{"local", id}}}};
}
json trace_of(const json& events) {
  return {{"traceEvents", events}, {"otherData", {{"lost_events", 3}, {"sample", 16}}}};
}

TEST(TraceSummary, HasCountMedianAndPercentileOfEachKind) {
  json events = json::array();
  for (int i = 1; i <= 100; ++i) events.push_back(slice("put", i, i));
  const trace_summary s = summarise({trace_of(events)}, 5);
  ASSERT_EQ(s.kinds.size(), 1u);
  EXPECT_EQ(s.kinds[0].name, "put");
  EXPECT_EQ(s.kinds[0].count, 100u);
  EXPECT_EQ(s.kinds[0].median_us, 50);
  EXPECT_EQ(s.kinds[0].p99_us, 99);
  EXPECT_EQ(s.kinds[0].longest_us, 100);
  EXPECT_EQ(s.lost_events, 3u);
  EXPECT_EQ(s.sample, 16u);
}

TEST(TraceSummary, CountsOperationsThatWereNotTimedAndLeavesThemOutOfTheTimes) {
  json untimed = slice("put", 3, 0);
  untimed["ph"] = "i";
  untimed["args"]["clock"] = "shared";
  const trace_summary s = summarise({trace_of({slice("put", 1, 7), untimed, untimed})}, 5);
  ASSERT_EQ(s.kinds.size(), 1u);
  EXPECT_EQ(s.kinds[0].count, 3u);
  EXPECT_EQ(s.kinds[0].median_us, 7);
}

TEST(TraceSummary, FindsTheEndOfEachPostedOperation) {
  const trace_summary s =
      summarise({trace_of({half("b", 10, "0x1"), half("b", 11, "0x2"), half("e", 31, "0x2"),
                           half("e", 15, "0x1", "peer_lost"), half("b", 50, "0x3")})},
                5);
  ASSERT_EQ(s.kinds.size(), 1u);
  EXPECT_EQ(s.kinds[0].count, 2u);
  EXPECT_EQ(s.kinds[0].failed, 1u);
  EXPECT_EQ(s.kinds[0].median_us, 5);
  EXPECT_EQ(s.kinds[0].longest_us, 20);
}

TEST(TraceSummary, HasTheLongestSleepsOfAllRanksWithTheirTime) {
  const json one = trace_of({slice("sleep", 100, 7, "engine"), slice("sleep", 300, 50, "engine")});
  const json other = trace_of(json::array({slice("sleep", 200, 20, "engine")}));
  const trace_summary s = summarise({one, other}, 2);
  ASSERT_EQ(s.sleeps.size(), 2u);
  EXPECT_EQ(s.sleeps[0].us, 50);
  EXPECT_EQ(s.sleeps[0].begin_us, 200);
  EXPECT_EQ(s.sleeps[1].us, 20);
  EXPECT_THAT(text_of(s), HasSubstr("longest sleeps\n        50.000 us at        200.000 us"));
  EXPECT_EQ(as_json(s)["longest_sleeps"].size(), 2u);
}

TEST(TraceSummary, OfWhatIsNoTraceSaysSo) {
  try {
    (void)read_trace("/dev/null");
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("/dev/null is no trace"));
  }
  EXPECT_THROW((void)read_trace("/absent"), error);
}

}  // namespace
}  // namespace heddle::tools
