// SPDX-License-Identifier: BSD-3-Clause
// bare_limit_test.cpp - which benchmarks have a bare limit, and that each one can be measured.
#include "harness/bare_limit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heddle::bench {
namespace {

spec short_spec(kind what, operation op) {
  spec s;
  s.what = what;
  s.op = op;
  s.bytes = what == kind::bandwidth ? 65536 : 8;
  s.time = std::chrono::milliseconds(1);
  return s;
}

TEST(BareLimit, ExistsForEveryLatencyThatAnotherRankTakesPartIn) {
  for (const operation op : {operation::put, operation::am, operation::tag}) {
    EXPECT_TRUE(bare_limit(short_spec(kind::latency, op), "shm", {})) << name_of(op);
  }
  for (const auto& [name, op] : choices<operation>()) {
    EXPECT_TRUE(bare_limit(short_spec(kind::latency, op), "tcp", {})) << name;
  }
}

TEST(BareLimit, DoesNotExistWhereNothingBareCorresponds) {
  EXPECT_FALSE(bare_limit(short_spec(kind::latency, operation::get), "shm", {}));
  EXPECT_FALSE(bare_limit(short_spec(kind::rate, operation::am), "shm", {}));
  EXPECT_FALSE(bare_limit(short_spec(kind::rate, operation::put), "tcp", {}));
  EXPECT_FALSE(bare_limit(short_spec(kind::rate, operation::fetch_add), "tcp", {}));
  spec wide = short_spec(kind::rate, operation::put);
  wide.bytes = 16;
  EXPECT_FALSE(bare_limit(wide, "shm", {}));
}

TEST(BareLimit, OfEveryKindCanBeMeasured) {
  for (const std::string backend : {"shm", "tcp"}) {
    for (const kind what : {kind::latency, kind::bandwidth, kind::rate}) {
      for (const auto& [name, op] : choices<operation>()) {
        const auto limit = bare_limit(short_spec(what, op), backend, {});
        if (!limit) continue;
        const double seconds = limit();
        EXPECT_TRUE(std::isfinite(seconds) && seconds > 0) << backend << ' ' << name;
      }
    }
  }
}

TEST(BareLimit, OfAComputingTargetAndOfExposedMemoryCanBeMeasured) {
  spec computing = short_spec(kind::latency, operation::get);
  computing.target = target_mode::computing;
  EXPECT_GT(bare_limit(computing, "tcp", {})(), 0);
  spec exposed = short_spec(kind::bandwidth, operation::tag);
  exposed.buffers = buffer_kind::exposed;
  EXPECT_GT(bare_limit(exposed, "shm", {})(), 0);
}

}  // namespace
}  // namespace heddle::bench
