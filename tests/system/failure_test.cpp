// SPDX-License-Identifier: BSD-3-Clause
// failure_test.cpp - what `heddle run` does when programs fail, cannot start, or leave a mess.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Failure, SuccessOfAllRanksIsSilentSuccess) {
  const auto how = run(heddle_run({"-n", "4"}, {"true"}));
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(how.out + how.err, IsEmpty());
}

TEST(Failure, TheFirstFailingStatusIsTheLaunchersAndTheRankIsNamed) {
  const auto how = run(heddle_probe({"-n", "3"}, {"1:fail", "sleep"}));
  EXPECT_EQ(how.status, 7);
  EXPECT_THAT(how.err, AllOf(HasSubstr("rank 1 ("), HasSubstr("exited with status 7"),
                             HasSubstr("ending the other ranks"), Not(HasSubstr("rank 0 ("))));
}

TEST(Failure, ASignalGivesTheStatusAShellWouldGive) {
  const auto how = run(heddle_probe({"-n", "2"}, {"1:kill", "sleep"}));
  EXPECT_EQ(how.status, 128 + 9);
  EXPECT_THAT(how.err, AllOf(HasSubstr("rank 1 ("), HasSubstr("killed by signal 9 (SIGKILL)")));
}

TEST(Failure, RanksThatDoNotListenToSigtermAreKilledToo) {
  const auto how = run(heddle_probe({"-n", "3"}, {"deaf", "barrier", "0:fail", "sleep"}));
  EXPECT_EQ(how.status, 7);
}

TEST(Failure, WithKeepGoingTheOthersFinishTheirWork) {
  const auto how = run(heddle_run(
      {"-n", "3", "--keep-going"},
      {"sh", "-c", "[ $HEDDLE_RANK = 1 ] && exit 5; sleep 0.2; echo done $HEDDLE_RANK"}));
  EXPECT_EQ(how.status, 5);
  EXPECT_THAT(sorted_lines(how.out), testing::ElementsAre("done 0", "done 2"));
  EXPECT_THAT(how.err, Not(HasSubstr("ending the other ranks")));
}

TEST(Failure, ARankThatAbortsEndsTheJobWithItsStatusAndItsReason) {
  const auto how = run(heddle_run({"-n", "3"}, {ABORTING_JOB, "1", "42"}));
  EXPECT_EQ(how.status, 42);
  EXPECT_THAT(how.err, HasSubstr("heddle: rank 1 ends the job with status 42: no input\n"));
  EXPECT_EQ(how.out, "last words");
}

TEST(Failure, AnAbortEndsTheOthersAlsoWhereTheyWereToGoOn) {
  const auto how = run(heddle_probe({"-n", "3", "--keep-going"}, {"1:abort", "join", "sleep"}));
  EXPECT_EQ(how.status, 42);
  EXPECT_THAT(how.err, HasSubstr("rank 1 ends the job with status 42: as it should"));
}

TEST(Failure, TheStatusOfAnAbortIsTheJobsWhateverItsProcessOrAWrapperEndsWith) {
  const auto own = run(heddle_probe({"-n", "2"}, {"0:abort-and-end", "sleep"}));
  EXPECT_EQ(own.status, 42) << own.err;
  const auto wrapped =
      run(heddle_run({"-n", "2"}, {"sh", "-c", ABORTING_JOB " 0 42; sleep 20; exit 5"}));
  EXPECT_EQ(wrapped.status, 42) << wrapped.err;
}

TEST(Failure, AnAbortWithoutAStatusThatFailsIsAFailureAllTheSame) {
  for (const char* status : {"0", "256", "-1"})
    EXPECT_EQ(run(heddle_run({"-n", "2"}, {ABORTING_JOB, "1", status})).status, 1) << status;
}

TEST(Failure, AnAbortInTheChildOfAForkEndsThatChildOnly) {
  const auto how = run(heddle_run({"-n", "2"}, {ABORTING_JOB, "1", "42", "fork"}));
  EXPECT_EQ(how.status, 0) << how.err;
}

TEST(Failure, AMissingProgramIsNamedAndGives127) {
  for (const char* name : {"./no-such-program", "no-such-program", ""}) {
    const auto how = run(heddle_run({"-n", "3"}, {name}));
    EXPECT_EQ(how.status, 127);
    EXPECT_THAT(how.err, HasSubstr(std::string("cannot run ") + name + ": no such program"));
  }
}

TEST(Failure, AFileThatIsNoProgramGives126) {
  const std::string file = testing::TempDir() + "/not-a-program-" + std::to_string(getpid());
  std::ofstream(file) << "\x7f"
                         "ELF, but not really\n";
  EXPECT_EQ(run(heddle_run({"-n", "2"}, {file})).status, 126);
  chmod(file.c_str(), 0700);
  const auto how = run(heddle_run({"-n", "2"}, {file}));
  unlink(file.c_str());
  EXPECT_THAT(how.status, testing::AnyOf(126, 127, 2)) << how.err;
  EXPECT_THAT(how.err, Not(IsEmpty()));
  EXPECT_EQ(run(heddle_run({"-n", "2"}, {"/tmp"})).status, 126);
}

TEST(Failure, AJobThatCannotBeStartedWholeIsEnded) {
  const auto how = run({"sh", "-c", "ulimit -n 64; exec " HEDDLE " run -n 64 -- sleep 1000"});
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, AllOf(HasSubstr("start rank "), HasSubstr("Too many open files"),
                             HasSubstr("ulimit -n")));
}

// The last rank lets the others join when all have been started.
TEST(Failure, ALauncherWithoutDescriptorsForTheRanksThatJoinSaysSo) {
  const std::string file = testing::TempDir() + "/all-started-" + std::to_string(getpid());
  const auto how = run(
      {"sh", "-c",
       "ulimit -n 64; exec " HEDDLE " run -n 40 -- sh -c '[ $HEDDLE_RANK = 39 ] && touch " + file +
           "; while [ ! -e " + file + " ]; do sleep 0.02; done; exec " BOOT_PROBE " join sleep'"});
  unlink(file.c_str());
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("the launcher has no descriptors left to talk to it: raise the "
                                 "limit of open files, ulimit -n"));
}

TEST(Failure, WhatARankLeavesInItsProcessGroupIsEnded) {
  child job(heddle_run({"-n", "2"}, {"sh", "-c", "sleep 1000 & sleep 1000 & exit 0"}));
  EXPECT_EQ(job.wait(), 0);
  EXPECT_THAT(job.marked(), IsEmpty());
}

TEST(Failure, WhatAKilledRankLeavesIsEndedEvenIfItIgnoresSigterm) {
  const auto how = run(heddle_run(
      {"-n", "1"}, {"sh", "-c", "(trap '' TERM; sleep 1000; sleep 1000) & kill -KILL $$"}));
  EXPECT_EQ(how.status, 128 + 9);
}

TEST(Failure, ALauncherKilledOutrightTakesTheRanksAndTheirChildrenAlong) {
  child job(
      heddle_run({"-n", "3"}, {"sh", "-c", "sleep 1000 & " BOOT_PROBE " barrier ready sleep"}));
  job.read_until("ready", 3);
  EXPECT_EQ(job.marked().size(), 3u * 3 + 2);  // shell, sleep and probe; launcher and guardian
  job.send_signal(SIGKILL);
  EXPECT_EQ(job.wait(), 128 + 9);
  job.wait_for_none_marked();
}

TEST(Failure, ARankThatNeverMakesItsWorldEndsTheJobByName) {
  const auto how = run(
      heddle_run({"-n", "2", "--env", "HEDDLE_JOIN_TIMEOUT_MS=1000"},
                 {"sh", "-c", "[ $HEDDLE_RANK = 1 ] && exec sleep 1000; exec " HEDDLE " info"}));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.out, AllOf(HasSubstr("in vain for rank 1 (host "), HasSubstr(", process "),
                             HasSubstr("HEDDLE_JOIN_TIMEOUT_MS")));
  EXPECT_THAT(how.err, AllOf(HasSubstr("rank 0 ("), HasSubstr("ending the other ranks")));
}

TEST(Failure, WhomTheRanksWaitForIsToldWithoutALimitToo) {
  child job({"sh", "-c", HEDDLE " run -n 3 -- " BOOT_PROBE " 1:sleep barrier 2>&1"});
  job.read_until("heddle: waiting for rank 1 (host ");
}

TEST(Failure, ARankThatIsLateBetweenTwoMeetingsOfTheStartIsWaitedForUpToTheLimit) {
  const auto how =
      run(heddle_probe({"-n", "2"}, {"join-impatiently", "exchange", "1:nap", "exchange"}));
  EXPECT_EQ(how.status, 3);
  EXPECT_THAT(how.err, HasSubstr("probe 0: exchange addresses: waited 1 s in vain for rank 1"));
}

TEST(Failure, WhatAProgramWaitsForLaterHasNoLimit) {
  const auto how = run(heddle_probe(
      {"-n", "2"}, {"join-impatiently", "exchange", "joined", "1:nap", "barrier", "exchange"}));
  EXPECT_EQ(how.status, 0) << how.err;
}

TEST(Failure, ALauncherThatIsStoppedIsNotWaitedForBeyondTheLimit) {
  const char* script = "kill -STOP $PPID; " HEDDLE " info; kill -CONT $PPID";
  const auto how =
      run(heddle_run({"-n", "1", "--env", "HEDDLE_JOIN_TIMEOUT_MS=1000"}, {"sh", "-c", script}));
  EXPECT_THAT(how.out, testing::ContainsRegex("launcher \\(heddle run, process [0-9]+\\) has said "
                                              "nothing for 6 s"));
  EXPECT_THAT(how.err, HasSubstr("waiting for the launcher"));
}

}  // namespace
}  // namespace heddle::test
