// SPDX-License-Identifier: BSD-3-Clause
// programs_test.cpp - children end, are seen to end, and are ended.
#include "harness/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <sstream>

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

child::time_point in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

command shell(const std::string& script) {
  return {.program = "/bin/sh", .arguments = {"-c", script}};
}

TEST(Child, GivesItsExitStatusOrItsSignalAndWhatItPrinted) {
  const std::pair<command, int> table[]{
      {shell("echo out; echo err >&2; exit 3"), 3},
      {shell("echo out; echo err >&2; kill -TERM $$"), 128 + SIGTERM},
      {{.program = "/nonexistent/program"}, 127}};
  for (const auto& [what, status] : table) {
    child c(what);
    ASSERT_TRUE(c.wait_until(in(60s)));
    EXPECT_EQ(c.exit_status(), status);
    EXPECT_EQ(c.output(), status == 127 ? "" : "out\nerr\n");
  }
}

TEST(Child, ThatRunsOnIsNotWaitedForBeyondTheDeadline) {
  child c(shell("exec sleep 1000"));
  EXPECT_FALSE(c.wait_until(in(20ms)));
}

TEST(Child, IsGoneWhenItsObjectIs) {
  std::string id;
  {
    child c(shell("echo $$; exec sleep 1000"));
    while (id.find('\n') == std::string::npos) {
      ASSERT_FALSE(c.wait_until(in(1ms))) << c.output();
      id = c.output();
    }
  }
  EXPECT_EQ(kill(std::stoi(id), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Child, MayCleanUpWhenItsEndSignalAllowsIt) {
  char file[] = "/tmp/heddle-child-test-XXXXXX";
  const int made = mkstemp(file);
  ASSERT_GE(made, 0);
  close(made);
  {
    command c = shell(std::string("trap 'rm ") + file +
                      "; exit' TERM; echo set; while :; do sleep 0.01; done");
    c.end_signal = SIGTERM;
    child cleaning(c);
    while (cleaning.output().empty()) ASSERT_FALSE(cleaning.wait_until(in(1ms)));
  }
  EXPECT_NE(access(file, F_OK), 0);
}

TEST(Child, SeesSettingsOnTopOfAFilteredEnvironment) {
  setenv("HEDDLE_CHILD_TEST_OLD", "old", 1);
  command c = shell("env");
  c.settings = {"HEDDLE_CHILD_TEST_NEW=new"};
  c.without = {"HEDDLE_CHILD_TEST_"};
  child printing(c);
  unsetenv("HEDDLE_CHILD_TEST_OLD");
  ASSERT_TRUE(printing.wait_until(in(60s)));
  EXPECT_THAT(printing.output(), HasSubstr("HEDDLE_CHILD_TEST_NEW=new"));
  EXPECT_THAT(printing.output(), Not(HasSubstr("HEDDLE_CHILD_TEST_OLD")));
}

TEST(Child, MayHaveAProcessGroupOfItsOwnAndNoInput) {
  command c = shell("cat; ps -o pgid= -p $$; echo $$; exec sleep 0.1");
  c.own_group = true;
  child apart(c);
  ASSERT_TRUE(apart.wait_until(in(60s)));
  std::istringstream words(apart.output());
  int group = 0, id = -1;
  words >> group >> id;
  EXPECT_EQ(group, id) << apart.output();
}

TEST(FindProgram, LooksThroughPath) {
  EXPECT_THAT(find_program("sh"), HasSubstr("/sh"));
  EXPECT_EQ(find_program("heddle-no-such-program"), "");
}

TEST(Companions, LieBesideTheProgramsOfThisBuild) {
  EXPECT_TRUE(std::filesystem::exists(companion_file("plot.py")));
}

}  // namespace
}  // namespace heddle::bench
