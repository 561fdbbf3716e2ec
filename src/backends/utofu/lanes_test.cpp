// lanes_test.cpp - however many lanes a process has, a key is as long and reaches as far.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <vector>

#include "support/ranks.h"

namespace heddle::test {
namespace {

class UtofuLanes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, UtofuLanes, testing::Values(1, 24, 48, 54),
                         testing::PrintToStringParamName());

// One rank, to itself: 54 are all CQs that a node has for programs.
TEST_P(UtofuLanes, AllReachARegionByOneKeyOfOneSize) {
  settings s = settings_for("utofu");
  s.others["HEDDLE_UTOFU_LANES"] = std::to_string(GetParam());
  s.others["HEDDLE_UTOFU_CQS"] = "9";
  run_ranks(1, s, [](world& w) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(GetParam()));
    const region mine = w.expose(std::as_writable_bytes(std::span(words)));
    const key k = mine.key();
    EXPECT_EQ(k.bytes.size(), 48u);
    const remote_region there = w.import(k);
    for (std::size_t i = 0; i < words.size(); ++i) {
      lane l(w, {.number = static_cast<int>(i)});
      const std::uint64_t value = i + 1;
      const remote_address to = there.at(i * sizeof value);
      EXPECT_EQ(l.put(std::as_bytes(std::span(&value, 1)), to), status::done);
      EXPECT_EQ(words[i], value);
    }
  });
}

}  // namespace
}  // namespace heddle::test
