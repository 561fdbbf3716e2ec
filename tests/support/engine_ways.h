// SPDX-License-Identifier: BSD-3-Clause
// engine_ways.h - the ways from rank to rank that every engine test runs over.
#pragma once
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <ostream>
#include <string>
#include <vector>

#include "support/ranks.h"
#include "support/scale.h"
#include "support/wires.h"

namespace heddle::test {

/// One way to get from rank to rank.
struct way {
  std::string name;
  std::string backend;
  std::string progress = "adaptive";
  /// Whether shm may read a peer's memory by itself; else by messages.
  std::string cma = "auto";
};

inline void PrintTo(const way& w, std::ostream* out) {
  *out << w.name;
}

class Engine : public testing::TestWithParam<way> {
 protected:
  void SetUp() override { HEDDLE_NEEDS_WIRE(GetParam().backend); }
  [[nodiscard]] settings config() const {
    settings s = settings_for(GetParam().backend);
    s.others["HEDDLE_SHM_CMA"] = GetParam().cma;
    s.progress = GetParam().progress;
    s.executors = 2;
    return s;
  }
  /// Nobody serves a rank that does not call: for tests in which the target only computes.
  [[nodiscard]] static bool only_inline() { return GetParam().progress == "inline"; }
};

/// Each wire in each mode of progress; by messages as well where it can do without.
inline auto all_ways() {
  std::vector<way> ways{{"shm_messages", "shm", "adaptive", "off"}};
  for (const known_wire& wire : wires()) {
    ways.push_back({wire.name, wire.name});
    if (sanitized && wire.is_module) continue;  // the rest goes the same ways through the backend
    for (const std::string mode : {"inline", "dedicated", "idle"})
      ways.push_back({wire.name + "_" + mode, wire.name, mode, mode == "inline" ? "auto" : "off"});
  }
  return testing::ValuesIn(ways);
}
inline std::string name_of_way(const testing::TestParamInfo<way>& tested) {
  return tested.param.name;
}

}  // namespace heddle::test
