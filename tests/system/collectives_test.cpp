// SPDX-License-Identifier: BSD-3-Clause
// collectives_test.cpp - ranks that join through `heddle run` and meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Collectives, RanksKnowTheirNumbersAndExchangeWhatTheyGive) {
  const auto how = run(heddle_probe({"-n", "3"}, {"exchange", "barrier", "exchange", "who"}));
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_THAT(sorted_lines(how.out),
              ElementsAre("rank 0 of 3, 3 here", "rank 1 of 3, 3 here", "rank 2 of 3, 3 here"));
}

TEST(Collectives, AJobsRanksShareASecret) {
  const auto how = run(heddle_probe({"-n", "4"}, {"secrets"}));
  EXPECT_EQ(how.status, 0) << how.err;
}

TEST(Collectives, SixteenRanksOnFewCoresMeetManyTimes) {
  std::vector<std::string> steps;
  for (int i = 0; i < 50; ++i) steps.insert(steps.end(), {"exchange-most", "barrier"});
  const auto how = run(heddle_probe({"-n", "16"}, steps));
  EXPECT_EQ(how.status, 0) << how.err;
}

TEST(Collectives, ARankKilledInABarrierFailsTheOthersByName) {
  const auto how =
      run(heddle_probe({"-n", "4", "--keep-going"}, {"exchange", "2:kill", "barrier"}));
  EXPECT_EQ(how.status, 128 + 9);
  for (const char* survivor : {"probe 0:", "probe 1:", "probe 3:"})
    EXPECT_THAT(how.err, HasSubstr(std::string(survivor) +
                                   " barrier: rank 2 was killed by signal 9 (SIGKILL)"));
}

TEST(Collectives, ARankThatEndsWithoutJoiningFailsThoseThatWaitForIt) {
  const auto how = run(heddle_probe({"-n", "3", "--keep-going"}, {"1:end", "exchange"}));
  EXPECT_EQ(how.status, 3);
  for (const char* waiting : {"probe 0:", "probe 2:"})
    EXPECT_THAT(how.err, HasSubstr(std::string(waiting) +
                                   " exchange addresses: rank 1 exited with status 0"));
}

TEST(Collectives, ARankThatEndsWithoutJoiningIsFineWhenNobodyWaits) {
  EXPECT_EQ(run(heddle_run({"-n", "3"}, {"true"})).status, 0);
  EXPECT_EQ(run(heddle_probe({"-n", "3"}, {"1:end", "join"})).status, 0);
}

TEST(Collectives, ARankThatLeavesFailsThoseThatStillMeet) {
  const auto how =
      run(heddle_probe({"-n", "2", "--keep-going"}, {"barrier", "1:leave", "1:end", "barrier"}));
  EXPECT_EQ(how.status, 3);
  EXPECT_THAT(how.err, HasSubstr("probe 0: barrier: rank 1 "));
}

TEST(Collectives, DifferentCollectivesAtOnceAreRefused) {
  const auto how = run(heddle_probe({"-n", "2", "--keep-going"}, {"0:barrier", "1:exchange"}));
  EXPECT_EQ(how.status, 3);
  EXPECT_THAT(how.err, HasSubstr("probe 0: barrier: rank "));
  EXPECT_THAT(how.err, HasSubstr("called another collective"));
}

TEST(Collectives, TwoProcessesCannotBothBeOneRank) {
  const auto how = run(heddle_probe({"-n", "1"}, {"join-twice"}));
  EXPECT_EQ(how.status, 3);
  EXPECT_THAT(how.err, HasSubstr("rank 0 has joined already"));
}

TEST(Collectives, ARankJoinsAgainAfterItHasLeft) {
  const auto how = run(heddle_probe({"-n", "3"}, {"exchange", "leave", "exchange", "barrier"}));
  EXPECT_EQ(how.status, 0) << how.err;
}

TEST(Collectives, ProgramsThatAScriptRunsInTurnMeetEachTime) {
  const std::string twice = BOOT_PROBE " exchange barrier && " BOOT_PROBE " barrier exchange who";
  const auto how = run(heddle_run({"-n", "3"}, {"sh", "-c", twice}));
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_EQ(sorted_lines(how.out).size(), 3u);
}

TEST(Collectives, TheNextProgramOfAScriptJoinsAlsoRightAfterTheDeathOfTheOneBefore) {
  const std::vector<std::string> script{"sh", "-c",
                                        BOOT_PROBE " join kill; " BOOT_PROBE " exchange who"};
  for (const auto& command : {heddle_run({"-n", "2"}, script), run_on_hosts("a,b", {}, script)}) {
    const auto how = run(command);
    EXPECT_EQ(how.status, 0) << how.err;
    EXPECT_EQ(sorted_lines(how.out).size(), 2u);
  }
}

TEST(Collectives, ADeathBehindAScriptIsSeenWhileTheScriptGoesOn) {
  const auto folder = testing::TempDir() + "/behind-a-script-" + std::to_string(getpid());
  const std::string script =
      "if [ $HEDDLE_RANK = 1 ]; then " BOOT_PROBE " join kill; while [ ! -e " + folder +
      " ]; do sleep 0.02; done; else " BOOT_PROBE " barrier; touch " + folder + "; fi";
  const auto how = run(heddle_run({"-n", "2"}, {"sh", "-c", script}));
  unlink(folder.c_str());
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_THAT(how.err, HasSubstr("probe 0: barrier: rank 1 has ended without leaving"));
}

TEST(Collectives, AProgramThatARankStartsIsNotTheRank) {
  const auto how = run(heddle_run({"-n", "1"}, {"sh", "-c", BOOT_PROBE " who; exit $?"}));
  EXPECT_EQ(how.status, 0) << how.err;
  const auto without = run({"env", "HEDDLE_BOOT_FD=77", BOOT_PROBE, "who"});
  EXPECT_EQ(without.status, 3);
  EXPECT_THAT(without.err, HasSubstr("unset HEDDLE_BOOT_FD to run alone"));
}

TEST(Collectives, ALauncherThatIsGoneFailsAJoinInsteadOfHangingIt) {
  child job(heddle_run({"-n", "1"}, {"setsid", "-w", "sh", "-c",
                                     "echo ready; while kill -0 $PPID 2>/dev/null; do sleep 0.02; "
                                     "done; " BOOT_PROBE " join; echo status $?"}));
  job.read_until("ready");
  job.send_signal(SIGKILL);
  job.read_until("status 3");
  EXPECT_THAT(job.finish().err, HasSubstr("the launcher (heddle run)"));
}

}  // namespace
}  // namespace heddle::test
