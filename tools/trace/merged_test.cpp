// SPDX-License-Identifier: BSD-3-Clause
#include "trace/merged.h"

#include <gtest/gtest.h>

namespace heddle::tools {
namespace {

using nlohmann::json;

json trace_of(int rank, const char* host, std::int64_t monotonic_ns, std::int64_t wall_ns) {
  return {{"traceEvents",
           {{{"name", "put"}, {"ph", "X"}, {"ts", 1000.0}, {"pid", rank}},
            {{"name", "process_name"}, {"ph", "M"}, {"pid", rank}}}},
          {"otherData",
           {{"rank", rank},
            {"host", host},
            {"monotonic_ns", monotonic_ns},
            {"wall_ns", wall_ns},
            {"lost_events", 2}}}};
}

TEST(MergedTraces, OfOneHostKeepTheirTimes) {
  // The wall clock was set between the two.
  const json all = merged({trace_of(0, "a", 10, 5'000'010), trace_of(1, "a", 20, 9'000'020)});
  ASSERT_EQ(all["traceEvents"].size(), 4u);
  EXPECT_EQ(all["traceEvents"][0]["ts"], 1000.0);
  EXPECT_EQ(all["traceEvents"][2]["ts"], 1000.0);
  EXPECT_EQ(all["traceEvents"][2]["pid"], 1);
  EXPECT_EQ(all["otherData"]["lost_events"], 4);
}

TEST(MergedTraces, OfAnotherHostAreMovedByTheWallClocks) {
  // b was booted 7 us later than a: the same time has a lower number there.
  const json all = merged({trace_of(0, "a", 107'000, 500'000), trace_of(1, "b", 100'000, 500'000)});
  EXPECT_EQ(all["traceEvents"][2]["ts"], 1007.0);
  EXPECT_FALSE(all["traceEvents"][3].contains("ts"));
}

}  // namespace
}  // namespace heddle::tools
