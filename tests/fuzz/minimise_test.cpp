// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/minimise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fuzz/generate.h"
#include "fuzz/model.h"
#include "fuzz/plan_text.h"

namespace heddle::fuzz {
namespace {

constexpr devices every_device{.utofu = true, .verbs = true};

using testing::IsEmpty;
using testing::SizeIs;

TEST(Minimise, LeavesWhatItTakesToFailAndNothingElse) {
  plan p = generate(19, {.sky = weather::fair, .wire = "tcp"}, every_device);
  const auto guilty = [](const step& s) { return s.what == verb::send && s.bytes > 100; };
  const auto fails = [&](const plan& less) {
    EXPECT_EQ(why_not(less), "");
    return std::count_if(less.steps.begin(), less.steps.end(), guilty) >= 2;
  };
  ASSERT_TRUE(fails(p));
  const plan least = minimise(p, fails, [] { return false; });
  EXPECT_THAT(least.steps, SizeIs(4)) << print(least);  // two messages and their receives
  EXPECT_THAT(least.settings, IsEmpty());
  EXPECT_LE(least.lanes.size(), 2u);
}

}  // namespace
}  // namespace heddle::fuzz
