// engine_ways.h - the ways from rank to rank that every engine test runs over.
#pragma once
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <string>

#include "support/ranks.h"

namespace heddle::test {

/// One way to get from rank to rank.
struct way {
  const char* name;
  const char* backend;
  const char* cma;
};

class Engine : public testing::TestWithParam<way> {
 protected:
  [[nodiscard]] settings config() const {
    settings s = settings_for(GetParam().backend);
    s.cma = GetParam().cma;
    return s;
  }
};

inline auto all_ways() {
  return testing::Values(way{"shm", "shm", "auto"}, way{"shm_messages", "shm", "off"},
                         way{"tcp", "tcp", "auto"});
}
inline std::string name_of_way(const testing::TestParamInfo<way>& tested) {
  return tested.param.name;
}

}  // namespace heddle::test
