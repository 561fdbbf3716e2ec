// SPDX-License-Identifier: BSD-3-Clause
// bare_limit_test.cpp - which benchmarks have a bare limit, and that each one can be measured.
#include "harness/bare_limit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heddle::bench {
namespace {

spec short_spec(kind what, operation op) {
  return {.what = what,
          .op = op,
          .bytes = what == kind::bandwidth ? 65536u : 8u,
          .time = std::chrono::milliseconds(1)};
}

bool exists(kind what, operation op, const char* backend) {
  return bool{bare_limit(short_spec(what, op), backend, {})};
}

TEST(BareLimit, ExistsOnlyWhereSomethingBareCorresponds) {
  for (const auto& [name, op] : choices<operation>()) {
    EXPECT_EQ(exists(kind::latency, op, "shm"), !is_round_trip(op)) << name;
    EXPECT_TRUE(exists(kind::latency, op, "tcp")) << name;
  }
  EXPECT_FALSE(exists(kind::rate, operation::am, "shm"));
  EXPECT_FALSE(exists(kind::rate, operation::put, "tcp"));
  EXPECT_FALSE(exists(kind::rate, operation::fetch_add, "tcp"));
  spec wide = short_spec(kind::rate, operation::put);
  wide.bytes = 16;
  EXPECT_FALSE(bare_limit(wide, "shm", {}));
}

TEST(BareLimit, OfEveryKindCanBeMeasured) {
  for (const std::string backend : {"shm", "tcp"}) {
    for (const kind what : {kind::latency, kind::bandwidth, kind::rate}) {
      for (const auto& [name, op] : choices<operation>()) {
        spec s = short_spec(what, op);
        s.target = op == operation::get ? target_mode::computing : target_mode::waiting;
        s.buffers = op == operation::tag ? buffer_kind::exposed : buffer_kind::plain;
        const auto limit = bare_limit(s, backend, {});
        if (!limit) continue;
        const double seconds = limit();
        EXPECT_TRUE(std::isfinite(seconds) && seconds > 0) << backend << ' ' << name;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::bench
