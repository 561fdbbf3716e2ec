// SPDX-License-Identifier: BSD-3-Clause
// hosts_start_test.cpp - hosts that cannot be used, and what people are told about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/info.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "run/agent_protocol.h"
#include "system/child.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(HostsStart, LoginsMayPrintBeforeTheAgentDoes) {
  const auto how = run(run_on_hosts("noisy,b", {}, {"echo", "hello"}));
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_EQ(how.out, "hello\nhello\n");
  EXPECT_THAT(how.err, IsEmpty());
}

TEST(HostsStart, WhatLoginsPrintIsTheirsAlsoWhereItIsReadWithTheAgentsFirstWord) {
  const auto how = run(run_on_hosts("unread", {}, {"echo", "hello"}));
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_EQ(how.out, "hello\n");
  EXPECT_THAT(how.err, IsEmpty());
}

TEST(HostsStart, AHostThatLetsNobodyInIsNamedWithTheCure) {
  const auto how = run(run_on_hosts("a,denied", {}, {"echo", "hello"}));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.out, IsEmpty()) << "no rank starts before all hosts are reached";
  EXPECT_THAT(how.err, AllOf(HasSubstr("denied: "), HasSubstr("Permission denied (publickey)"),
                             HasSubstr("denied true` work without a password")));
}

TEST(HostsStart, AStarterThatEndsAtOnceIsNamed) {
  const auto how = run(run_on_hosts("closed,b", {}, {"true"}));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, AllOf(HasSubstr("closed: "), HasSubstr("exited with status 0")));
}

TEST(HostsStart, AHostWithAnotherVersionIsNamedWithBoth) {
  const auto how = run(run_on_hosts("a,older", {}, {"echo", "hello"}));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.out, IsEmpty());
  EXPECT_THAT(how.err, HasSubstr("older has Heddle 0.0.9, this is " + std::string(version())));
}

TEST(HostsStart, AHostWithoutHeddleIsNamedWithTheOption) {
  const auto how = run(run_on_hosts("a", {"--remote-heddle", "/no/such/heddle"}, {"true"}));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("a has no /no/such/heddle: --remote-heddle PATH"));
}

TEST(HostsStart, AProgramInAFolderWithAnOddNameIsFound) {
  const std::string folder = testing::TempDir() + "/it's $HOME " + std::to_string(getpid());
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(symlink(HEDDLE, (folder + "/heddle").c_str()), 0);
  const auto how =
      run(run_on_hosts("a", {"--remote-heddle", folder + "/heddle"}, {"echo", "hello"}));
  unlink((folder + "/heddle").c_str());
  rmdir(folder.c_str());
  EXPECT_EQ(how.out, "hello\n") << how.err;
}

TEST(HostsStart, AHostThatPrintsWithoutEndIsNoAgent) {
  const auto how = run(run_on_hosts("endless", {}, {"true"}));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("endless: "));
}

TEST(HostsStart, AnAgentThatTalksNonsenseIsLost) {
  auto words = run_on_hosts("a,babbling", {}, {"sleep", "1000"});
  words.insert(words.begin(),
               {"env", "PRETENDED_GREETING=" + std::to_string(tools::agent_protocol::version) +
                           " " + std::string(version())});
  const auto how = run(words);
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err,
              AllOf(HasSubstr("babbling"), HasSubstr("does not speak the agents' protocol")));
}

TEST(HostsStart, AMissingStarterIsNamedWithTheOption) {
  const auto how = run({HEDDLE, "run", "--starter", "no-such-starter", "--hosts", "a", "true"});
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, AllOf(HasSubstr("cannot run no-such-starter"), HasSubstr("--starter CMD")));
}

TEST(HostsStart, AMissingProgramIsNamedWithTheHostAndGives127) {
  const auto how = run(run_on_hosts("a,b", {}, {"./no-such-program"}));
  EXPECT_EQ(how.status, 127);
  EXPECT_THAT(how.err,
              AllOf(HasSubstr("cannot run ./no-such-program on "), HasSubstr("no such program")));
  EXPECT_EQ(run(run_on_hosts("a,b", {}, {"/tmp"})).status, 126);
}

TEST(HostsStart, AMissingDirectoryIsNamedWithTheHost) {
  const auto how = run(run_on_hosts("a", {"--workdir", "/no/such/folder"}, {"true"}));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("a has no directory /no/such/folder"));
}

TEST(HostsStart, WhoDoesNotWaitForASlowHostEndsTheLauncher) {
  child job(run_on_hosts("slow,a", {}, {"true"}));
  while (job.marked().size() < 4) usleep(5000);  // launcher, guardian, and the two starters
  job.send_signal(SIGINT);
  EXPECT_EQ(job.finish().status, 128 + SIGINT);
  EXPECT_THAT(job.marked(), IsEmpty());
}

TEST(HostsStart, RanksThatAreThereEarlyHaveTheirLimitWhenAllAreStarted) {
  const auto how =
      run(probe_on_hosts("a,b,deaf", {"--fanout", "2"}, {"join-within-5s", "exchange", "who"}));
  EXPECT_EQ(how.status, 0) << how.err;
}

TEST(HostsStart, ThisHostNeedsNoStarter) {
  const auto how = run(heddle_run({"--hosts", "localhost:2"}, {BOOT_PROBE, "who", "exchange"}));
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_THAT(sorted_lines(how.out),
              testing::ElementsAre("rank 0 of 2, 2 here", "rank 1 of 2, 2 here"));
}

TEST(HostsStart, AHostfileIsRead) {
  const std::string file = testing::TempDir() + "/hosts-" + std::to_string(getpid());
  std::ofstream(file) << "a slots=2  # OpenMPI\nb:1\nc[1-2]\n";
  const auto how = run({HEDDLE, "run", "--starter", PRETENDED_SSH, "--hostfile", file, "--", "sh",
                        "-c", "echo $HEDDLE_RANK $HOME"});
  unlink(file.c_str());
  EXPECT_THAT(sorted_lines(how.out),
              testing::ElementsAre("0 /home/at/a", "1 /home/at/a", "2 /home/at/b", "3 /home/at/c1",
                                   "4 /home/at/c2"))
      << how.err;
}

TEST(HostsStart, WrongUseIsTold) {
  EXPECT_THAT(run(heddle_run({"--hosts", "a:b"}, {"true"})).err, HasSubstr("'b' is no number"));
  EXPECT_EQ(run(heddle_run({"--hosts", "-oProxyCommand=x"}, {"true"})).status, 2);
  EXPECT_EQ(run(heddle_run({"--hostfile", "/no/such"}, {"true"})).status, 2);
  EXPECT_EQ(run(run_on_hosts("a:2", {"-n", "3"}, {"true"})).status, 2);
}

TEST(HostsStart, NoHostIsNotThisHost) {
  for (const char* option : {"--hosts", "--hostfile"}) {
    const auto how = run(heddle_run({option, ""}, {"true"}));
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.err, AllOf(HasSubstr(option), HasSubstr("it names no host: write HOST:N")));
  }
}

TEST(HostsStart, WhatIsForHostsOnlyWantsThem) {
  const std::vector<std::vector<std::string>> alone{
      {"--starter", "x"}, {"--workdir", "/tmp"}, {"--fanout", "2"}, {"--silence-limit", "30"}};
  for (const auto& options : alone) {
    const auto how = run(heddle_run(options, {"true"}));
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.err, AllOf(HasSubstr(options.front()), HasSubstr("need --hosts")));
  }
}

TEST(HostsStart, InfoComparesHostsAndMarksWhatDiffers) {
  const auto how = run({HEDDLE, "info", "--starter", PRETENDED_SSH, "--hosts", "a:4,few-files,b"});
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_THAT(how.out,
              AllOf(HasSubstr("3 hosts: a, few-files, b\n"),
                    testing::ContainsRegex("\n! open files +[0-9]+ +a, b\n +512 +few-files"),
                    HasSubstr("\n  backend shm    usable\n")));
}

TEST(HostsStart, InfoGivesTheFactsOfEachHostAsData) {
  const auto how =
      run({HEDDLE, "info", "--json", "--starter", PRETENDED_SSH, "--hosts", "a,few-files"});
  const auto told = nlohmann::json::parse(how.out, nullptr, false);
  ASSERT_TRUE(told.is_object()) << how.out << how.err;
  EXPECT_EQ(told["hosts"][1]["name"], "few-files");
  EXPECT_EQ(told["hosts"][1]["facts"]["open files"], "512");
  EXPECT_EQ(told["hosts"][0]["facts"]["heddle"], std::string(version()));
}

TEST(HostsStart, TheAgentIsNobodysCommand) {
  EXPECT_THAT(run({HEDDLE, "--help"}).out, Not(HasSubstr("agent ")));
}

}  // namespace
}  // namespace heddle::test
