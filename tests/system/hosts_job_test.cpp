// SPDX-License-Identifier: BSD-3-Clause
// hosts_job_test.cpp - what a job on several hosts is to its ranks and to who started it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Which hosts a job may use, and what its ranks say of themselves.
struct numbering {
  const char *name, *hosts;
  std::vector<std::string> options, ranks;
};
void PrintTo(const numbering& n, std::ostream* out) {
  *out << n.name;
}
class HostsNumbering : public testing::TestWithParam<numbering> {};

TEST_P(HostsNumbering, GoesHostAfterHost) {
  const auto how = run(probe_on_hosts(GetParam().hosts, GetParam().options, {"who"}));
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_EQ(sorted_lines(how.out), GetParam().ranks);
}

INSTANTIATE_TEST_SUITE_P(Jobs, HostsNumbering,
                         testing::Values(numbering{"AllThereIsRoomFor",
                                                   "a:2,b:1,c:3",
                                                   {},
                                                   {"rank 0 of 6, 2 here", "rank 1 of 6, 2 here",
                                                    "rank 2 of 6, 1 here", "rank 3 of 6, 3 here",
                                                    "rank 4 of 6, 3 here", "rank 5 of 6, 3 here"}},
                                         numbering{"FewerThanThereIsRoomForFillTheFirstHosts",
                                                   "a:2,b:2,denied:2",
                                                   {"-n", "3"},
                                                   {"rank 0 of 3, 2 here", "rank 1 of 3, 2 here",
                                                    "rank 2 of 3, 1 here"}}),
                         [](const auto& which) { return which.param.name; });

TEST(HostsJob, RanksMeetAcrossHosts) {
  const auto how = run(probe_on_hosts(
      "a:3,b:2,c", {}, {"exchange", "secrets", "barrier", "exchange-most", "leave", "exchange"}));
  EXPECT_EQ(how.status, 0) << how.err;
}

TEST(HostsJob, ARankThatAbortsEndsTheRanksOfAllHostsWithItsStatus) {
  for (const char* fanout : {"32", "1"}) {
    const auto how = run(probe_on_hosts("a:2,b:2,c:2", {"--keep-going", "--fanout", fanout},
                                        {"join", "5:abort", "sleep"}));
    EXPECT_EQ(how.status, 42);
    EXPECT_THAT(how.err, HasSubstr("rank 5 ends the job with status 42: as it should"));
  }
}

TEST(HostsJob, RanksThatWaitInVainAreToldWhoLeftAndWhere) {
  const auto how = run(probe_on_hosts("a:2,b:2", {"--keep-going"}, {"join", "3:kill", "exchange"}));
  EXPECT_THAT(how.err, HasSubstr("exchange addresses: rank 3 on b was killed by signal 9"));
}

TEST(HostsJob, WhoIsWaitedForIsNamedWithItsHost) {
  const auto how = run(probe_on_hosts("a:2,b:2", {}, {"3:sleep", "join-impatiently", "exchange"}));
  EXPECT_EQ(how.status, 3);
  EXPECT_THAT(how.err, HasSubstr("in vain for rank 3 (host b, process "));
}

TEST(HostsJob, LinesStayWholeAndAreLedByTheirRanks) {
  const auto how = run(run_on_hosts(
      "a,b", {"--prefix"}, {"sh", "-c", "printf 'one\\ntw'; echo bad >&2; printf 'o\\nend'"}));
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(sorted_lines(how.out),
              ElementsAre("[0] end", "[0] one", "[0] two", "[1] end", "[1] one", "[1] two"));
  EXPECT_THAT(sorted_lines(how.err), ElementsAre("[0] bad", "[1] bad"));
}

TEST(HostsJob, MuchOutputArrivesWhole) {
  constexpr std::size_t lines = 40'000;
  const auto how = run(run_on_hosts(
      "a:2,b:2", {}, {"sh", "-c", "yes \"line of rank $HEDDLE_RANK\" | head -n 40000"}));
  EXPECT_EQ(how.status, 0);
  const auto all = sorted_lines(how.out);
  ASSERT_EQ(all.size(), 4 * lines);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(static_cast<std::size_t>(
                  std::count(all.begin(), all.end(), "line of rank " + std::to_string(rank))),
              lines);
}

TEST(HostsJob, OutputThatNobodyReadsEndsTheRanks) {
  const auto how = run({"bash", "-c", "\"$@\" | head -n 1; echo status ${PIPESTATUS[0]}", "bash",
                        HEDDLE, "run", "--starter", PRETENDED_SSH, "--hosts", "a,b", "--", "yes"});
  EXPECT_THAT(sorted_lines(how.out), ElementsAre("status 141", "y"));
}

TEST(HostsJob, TheInputIsRankZerosAlone) {
  const auto how = run(run_on_hosts("a,b:2", {}, {"sh", "-c", "echo $HEDDLE_RANK read $(wc -c)"}),
                       std::string(300'000, 'x'));
  EXPECT_THAT(sorted_lines(how.out), ElementsAre("0 read 300000", "1 read 0", "2 read 0"));
}

TEST(HostsJob, InputMayBeAFile) {
  const auto how = run({"sh", "-c", "\"$@\" < /etc/passwd", "sh", HEDDLE, "run", "--starter",
                        PRETENDED_SSH, "--hosts", "a", "--", "cmp", "-", "/etc/passwd"});
  EXPECT_EQ(how.status, 0) << how.out << how.err;
}

TEST(HostsJob, RanksGetTheLaunchersEnvironmentButForWhatBelongsToALogin) {
  const char* script = "echo $HOME $COLOUR $SHADE ${DISPLAY-none} ${SSH_AUTH_SOCK-none} $PWD";
  auto words =
      run_on_hosts("a,b", {"--env", "SHADE=dark", "--workdir", "/tmp"}, {"sh", "-c", script});
  const std::vector<std::string> set{"env", "COLOUR=red", "SHADE=light", "DISPLAY=:7",
                                     "SSH_AUTH_SOCK=/tmp/x"};
  words.insert(words.begin(), set.begin(), set.end());
  EXPECT_THAT(sorted_lines(run(words).out), ElementsAre("/home/at/a red dark none none /tmp",
                                                        "/home/at/b red dark none none /tmp"));
}

TEST(HostsJob, WhatIsSetForAllRanksWins) {
  const auto how = run(run_on_hosts("a", {"--env", "HOME=/mine", "--env", "DISPLAY=:1"},
                                    {"sh", "-c", "echo $HOME $DISPLAY"}));
  EXPECT_EQ(how.out, "/mine :1\n");
}

TEST(HostsJob, TheFirstFailingStatusIsTheLaunchersAndTheHostIsNamed) {
  const auto how = run(probe_on_hosts("a:2,b:2", {}, {"3:fail", "sleep"}));
  EXPECT_EQ(how.status, 7);
  EXPECT_THAT(how.err, AllOf(HasSubstr("rank 3 on b ("), HasSubstr("exited with status 7"),
                             HasSubstr("ending the other ranks"), Not(HasSubstr("rank 0"))));
}

TEST(HostsJob, ASignalGivesTheStatusAShellWouldGive) {
  const auto how = run(
      run_on_hosts("a,b", {}, {"sh", "-c", "[ $HEDDLE_RANK = 0 ] || kill -SEGV $$; sleep 1000"}));
  EXPECT_EQ(how.status, 128 + SIGSEGV);
  EXPECT_THAT(how.err, HasSubstr("(SIGSEGV)"));
}

TEST(HostsJob, WithKeepGoingTheOthersFinishTheirWork) {
  const auto how = run(run_on_hosts(
      "a:2,b", {"--keep-going"},
      {"sh", "-c", "[ $HEDDLE_RANK = 1 ] && exit 5; sleep 0.2; echo done $HEDDLE_RANK"}));
  EXPECT_EQ(how.status, 5);
  EXPECT_THAT(sorted_lines(how.out), ElementsAre("done 0", "done 2"));
}

TEST(HostsJob, AJobThatTakesTooLongIsEnded) {
  const auto how = run(run_on_hosts("a,b", {"--timeout", "1"}, {"sleep", "1000"}));
  EXPECT_EQ(how.status, 124);
  EXPECT_THAT(how.err, HasSubstr("has not ended after 1 s (--timeout)"));
  EXPECT_EQ(run(heddle_run({"-n", "2", "--timeout", "1"}, {"sleep", "1000"})).status, 124);
}

class HostsEndingSignal : public testing::TestWithParam<int> {};

TEST_P(HostsEndingSignal, EndsAllRanksAndWhatTheyStarted) {
  child job(run_on_hosts("a:2,b", {}, {"sh", "-c", "sleep 1000 & echo ready; wait"}));
  job.read_until("ready", 3);
  job.send_signal(GetParam());
  EXPECT_EQ(job.finish().status, 128 + GetParam());
  EXPECT_THAT(job.marked(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Signals, HostsEndingSignal,
                         testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT));

TEST(HostsJob, UserSignalsArePassedOnAndEndNothing) {
  const char* script =
      "trap 'echo one' USR1; trap 'echo two; exit 0' USR2; echo ready; while :; do sleep 0.02; "
      "done";
  child job(run_on_hosts("a,b", {}, {"sh", "-c", script}));
  job.read_until("ready", 2);
  job.send_signal(SIGUSR1);
  job.read_until("one", 2);
  job.send_signal(SIGUSR2);
  job.read_until("two", 2);
  EXPECT_EQ(job.finish().status, 0);
}

TEST(HostsJob, ASecondRequestEndsRanksThatIgnoreTheFirst) {
  child job(probe_on_hosts("a,b", {}, {"deaf", "ready", "sleep"}));
  job.read_until("ready", 2);
  job.send_signal(SIGINT);
  job.send_signal(SIGTERM);
  EXPECT_THAT(job.finish().status, testing::AnyOf(128 + SIGINT, 128 + SIGTERM));
  EXPECT_THAT(job.marked(), IsEmpty());
}

// The silence limit is shorter than the pause: a launcher that was stopped with Ctrl-Z is not lost.
TEST(HostsJob, RanksStopAndContinueWithTheLauncher) {
  child job(
      run_on_hosts("a,b", {"--silence-limit", "1"}, {"sh", "-c", "echo ready; read x; echo more"}));
  job.read_until("ready", 2);
  job.send_signal(SIGTSTP);
  int how = 0;
  ASSERT_EQ(waitpid(job.pid(), &how, WUNTRACED), job.pid());
  EXPECT_TRUE(WIFSTOPPED(how));
  sleep(3);
  job.send_signal(SIGCONT);
  job.type("\n");
  job.read_until("more", 2);
  EXPECT_EQ(job.finish().status, 0);
}

}  // namespace
}  // namespace heddle::test
