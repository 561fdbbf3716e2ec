// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fuzz/model.h"
#include "fuzz/plan_text.h"

namespace heddle::fuzz {
namespace {

constexpr devices every_device{.utofu = true, .verbs = true};

using testing::HasSubstr;
using testing::SizeIs;

TEST(Plan, IsReadBackAsItWasPrinted) {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    const plan p = generate(seed, {}, every_device);
    EXPECT_EQ(read(print(p)), p) << print(p);
  }
}

TEST(Plan, ALineThatMakesNoSenseIsNamed) {
  for (const char* line : {"phase 0\n 1: 0.0 dance", "1: 0.0 send to=3", "tulip", "1: 00 poll"}) {
    try {
      (void)read(line);
      ADD_FAILURE() << line;
    } catch (const error& e) {
      EXPECT_THAT(e.what(), HasSubstr("a fuzzer's program: '"));
    }
  }
}

TEST(Generate, TheSameSeedGivesTheSamePlanAndAnotherOneAnother) {
  EXPECT_EQ(generate(7, {}, every_device), generate(7, {}, every_device));
  std::set<std::string> different;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    different.insert(print(generate(seed, {}, every_device)));
  EXPECT_THAT(different, SizeIs(50));
}

TEST(Generate, EveryVerbFormAndMistakeIsDrawn) {
  std::set<std::string_view> seen;
  for (std::uint64_t seed = 0; seed < 3000; ++seed)
    for (const step& s : generate(seed, {}, every_device).steps) {
      seen.insert(name_of(s.what));
      seen.insert(name_of(s.as));
      if (s.what == verb::mistake) seen.insert(name_of(static_cast<mistake>(s.op)));
    }
  for (int v = 0; v <= static_cast<int>(verb::use); ++v)
    EXPECT_TRUE(seen.contains(name_of(static_cast<verb>(v)))) << name_of(static_cast<verb>(v));
  for (int f = 0; f <= static_cast<int>(last_form); ++f)
    EXPECT_TRUE(seen.contains(name_of(static_cast<form>(f)))) << name_of(static_cast<form>(f));
  for (int m = 0; m <= static_cast<int>(mistake::withdrawn_get); ++m)
    EXPECT_TRUE(seen.contains(name_of(static_cast<mistake>(m))))
        << name_of(static_cast<mistake>(m));
}

TEST(Generate, EveryPlanKeepsTheRulesOverEveryWireAndInEveryWeather) {
  for (const std::string& wire : wires(every_device))
    for (const auto sky : {weather::fair, weather::stopped, weather::deadly, weather::poor})
      for (std::uint64_t seed = 0; seed < 100; ++seed)
        EXPECT_EQ(why_not(generate(seed, {sky, wire}, every_device)), "");
}

}  // namespace
}  // namespace heddle::fuzz
