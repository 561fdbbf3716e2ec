// SPDX-License-Identifier: BSD-3-Clause
// test_folder.h - a folder for the files of a test, and whether runs are the same, for tests.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "linktest/results/json_file.h"

namespace heddle::linktest {

/// It is gone after the test, with all that is in it.
class in_test_folder : public ::testing::Test {
 protected:
  in_test_folder() : root_(std::filesystem::path(::testing::TempDir()) / "linktest_XXXXXX") {
    std::string name = root_.string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root_ = name;
  }
  ~in_test_folder() override { std::filesystem::remove_all(root_); }
  [[nodiscard]] std::string in_root(const char* name) const { return (root_ / name).string(); }
  std::filesystem::path root_;
};

inline void expect_same_run(const run_record& got, const run_facts& facts, const results& all) {
  EXPECT_EQ(facts_as_json(got.facts, got.all), facts_as_json(facts, all));
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    EXPECT_EQ(got.all.states(s), all.states(s));
    for (const metric m : all_metrics) {
      const auto before = all.matrix(s, m), after = got.all.matrix(s, m);
      for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_TRUE(before[i] == after[i] || (std::isnan(before[i]) && std::isnan(after[i])))
            << name_of(m) << ' ' << i << ": " << before[i] << " became " << after[i];
    }
  }
}

}  // namespace heddle::linktest
