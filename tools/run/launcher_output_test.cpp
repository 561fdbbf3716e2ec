// SPDX-License-Identifier: BSD-3-Clause
#include "run/launcher_output.h"

#include <gtest/gtest.h>

#include <string>

namespace heddle::tools {
namespace {

TEST(LauncherOutput, OfRanksIsLeftToThemWhereNobodyWantsIt) {
  event_loop loop;
  EXPECT_FALSE(launcher_output(loop, {}, false).relays());
  EXPECT_TRUE(launcher_output(loop, {}, true).relays());
}

TEST(LauncherOutput, OfRanksGoesToWhoeverTakesItAndMessagesDoNot) {
  testing::internal::CaptureStderr();  // before it is opened
  event_loop loop;
  std::string got;
  launcher_output output(
      loop, [&got](std::string_view text) { got += text; }, false);
  EXPECT_TRUE(output.relays());
  output.of_ranks().write("a line\n");
  EXPECT_EQ(got, "a line\n");
  say(output.errors(), "a message");
  while (!output.empty()) loop.run_once();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "heddle: a message\n");
  EXPECT_EQ(got, "a line\n");
  EXPECT_EQ(output.problem(), 0);
}

}  // namespace
}  // namespace heddle::tools
