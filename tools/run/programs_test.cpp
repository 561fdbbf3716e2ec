// SPDX-License-Identifier: BSD-3-Clause
#include "run/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exit_status.h"

namespace heddle::tools {
namespace {

using testing::ElementsAre;

TEST(Programs, AreCutWhereAnotherNumberOfRanksIsGiven) {
  const auto parts = parse_programs({"a", "x", ":", "-n", "3", "b", "y", ":"}, 2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].ranks, 2);
  EXPECT_THAT(parts[0].words, ElementsAre("a", "x"));
  EXPECT_EQ(parts[1].ranks, 3);
  EXPECT_THAT(parts[1].words, ElementsAre("b", "y", ":"));
}

TEST(Programs, AColonOfAProgramsOwnStays) {
  const auto parts = parse_programs({"a", ":", "b", ":"}, 1);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_THAT(parts[0].words, ElementsAre("a", ":", "b", ":"));
}

TEST(Programs, PartsWithoutAProgramOrANumberAreRefused) {
  EXPECT_THROW((void)parse_programs({":", "-n", "2", "b"}, 1), usage_error);
  EXPECT_THROW((void)parse_programs({"a", ":", "-n", "2"}, 1), usage_error);
  EXPECT_THROW((void)parse_programs({"a", ":", "-n", "b"}, 1), usage_error);
  EXPECT_THROW((void)parse_programs({"a", ":", "-n", "0", "b"}, 1), usage_error);
}

TEST(Wrapper, HasRanksAndWords) {
  const wrapper around = parse_wrapper("0,2-3:gdb -ex 'bt full' --args");
  EXPECT_THAT(around.ranks, ElementsAre(0, 2, 3));
  EXPECT_THAT(around.words, ElementsAre("gdb", "-ex", "bt full", "--args"));
}

TEST(Wrapper, WithoutRanksOrWordsIsRefused) {
  for (const char* text : {"", "gdb", "0", "0:", ":gdb", "x:gdb", "3-1:gdb", "-1:gdb"})
    EXPECT_THROW((void)parse_wrapper(text), usage_error) << text;
}

TEST(Plan, GivesEachRankItsPartAndItsWrapper) {
  const auto plan = plan_commands({{2, {"a"}}, {2, {"b", "x"}}}, {{{1, 2, 3}, {"w", "-v"}}});
  EXPECT_THAT(plan.commands,
              ElementsAre(ElementsAre("a"), ElementsAre("b", "x"), ElementsAre("w", "-v", "a"),
                          ElementsAre("w", "-v", "b", "x")));
  EXPECT_THAT(plan.of_rank, ElementsAre(0, 2, 3, 3));
}

TEST(Plan, RefusesAWrapperForARankThatIsNotThere) {
  EXPECT_THROW((void)plan_commands({{2, {"a"}}}, {{{2}, {"w"}}}), usage_error);
}

}  // namespace
}  // namespace heddle::tools
