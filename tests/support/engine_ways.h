// SPDX-License-Identifier: BSD-3-Clause
// engine_ways.h - the ways from rank to rank that every engine test runs over.
#pragma once
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <string>
#include <vector>

#include "support/ranks.h"
#include "support/scale.h"

namespace heddle::test {

/// One way to get from rank to rank.
struct way {
  const char* name;
  const char* backend;
  const char* cma;
  const char* progress = "adaptive";
};

class Engine : public testing::TestWithParam<way> {
 protected:
  [[nodiscard]] settings config() const {
    settings s = settings_for(GetParam().backend);
    s.others["HEDDLE_SHM_CMA"] = GetParam().cma;
    s.progress = GetParam().progress;
    s.executors = 2;
    return s;
  }
  /// Nobody serves a rank that does not call: for tests in which the target only computes.
  [[nodiscard]] static bool only_inline() { return GetParam().progress == std::string("inline"); }
};

inline auto all_ways() {
  std::vector<way> ways{way{"shm", "shm", "auto"},
                        way{"shm_messages", "shm", "off"},
                        way{"tcp", "tcp", "auto"},
                        way{"shm_inline", "shm", "auto", "inline"},
                        way{"tcp_inline", "tcp", "auto", "inline"},
                        way{"shm_dedicated", "shm", "off", "dedicated"},
                        way{"tcp_dedicated", "tcp", "auto", "dedicated"},
                        way{"shm_idle", "shm", "off", "idle"},
                        way{"tcp_idle", "tcp", "auto", "idle"}};
#ifdef HEDDLE_TESTS_UTOFU
  ways.push_back(way{"utofu", "utofu", "auto"});
  if (!sanitized)  // the rest goes the same ways through the backend
    ways.insert(ways.end(), {way{"utofu_inline", "utofu", "auto", "inline"},
                             way{"utofu_dedicated", "utofu", "auto", "dedicated"},
                             way{"utofu_idle", "utofu", "auto", "idle"}});
#endif
  if (has_card())
    ways.insert(ways.end(),
                {way{"verbs", "verbs", "auto"}, way{"verbs_inline", "verbs", "auto", "inline"},
                 way{"verbs_dedicated", "verbs", "auto", "dedicated"},
                 way{"verbs_idle", "verbs", "auto", "idle"}});
  return testing::ValuesIn(ways);
}
inline std::string name_of_way(const testing::TestParamInfo<way>& tested) {
  return tested.param.name;
}

}  // namespace heddle::test
