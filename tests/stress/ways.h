// SPDX-License-Identifier: BSD-3-Clause
// ways.h - the ways from rank to rank that the stress tests take: each wire, alone and with faults.
#pragma once
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "support/ranks.h"
#include "support/scale.h"

namespace heddle::test {

struct way {
  const char* name;
  const char* backend;
  const char* cma;
  const char* faults;
  const char* progress = "adaptive";
  const char* utofu_mrq = nullptr;  ///< HEDDLE_UTOFU_MRQ
};

inline void PrintTo(const way& w, std::ostream* out) {
  *out << w.name;
}

[[nodiscard]] std::vector<way> all_ways();

/// A test that is run once for every way. Work is scaled by `amount`: less over faulty wires.
class Stress : public testing::TestWithParam<way> {
 protected:
  [[nodiscard]] static settings config() {
    settings s = settings_for(GetParam().backend);
    s.others["HEDDLE_SHM_CMA"] = GetParam().cma;
    s.faults = GetParam().faults;
    s.progress = GetParam().progress;
    if (GetParam().utofu_mrq != nullptr) s.others["HEDDLE_UTOFU_MRQ"] = GetParam().utofu_mrq;
    s.executors = 2;
    s.peer_timeout_ms = 120'000;  // more threads than cores: silence is no sign of death here
    return s;
  }
  /// Without executors, what nobody calls for waits.
  [[nodiscard]] static bool has_executors() {
    return std::string_view(GetParam().progress) != "inline";
  }
  [[nodiscard]] static int amount(int normal, int least = 1) {
    return scaled(GetParam().faults[0] != '\0' ? normal / 5 : normal, least);
  }
};

}  // namespace heddle::test
