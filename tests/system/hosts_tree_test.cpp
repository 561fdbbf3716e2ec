// SPDX-License-Identifier: BSD-3-Clause
// hosts_tree_test.cpp - jobs on more hosts than the launcher starts agents on itself.
//
// Seven hosts with a fan-out of 2: the launcher starts a and d; a starts b and c; d starts e and f,
// and f starts g.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "system/child.h"
#include "system/job_processes.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* seven = "a,b,c,d,e,f,g";

std::vector<std::string> with_fanout(std::vector<std::string> options, const char* fanout = "2") {
  options.insert(options.end(), {"--fanout", fanout});
  return options;
}

std::vector<std::string> tree(const std::vector<std::string>& options,
                              const std::vector<std::string>& program,
                              const std::string& hosts = seven) {
  return run_on_hosts(hosts, with_fanout(options), program);
}

/// A rank on each host that has started something itself.
std::vector<std::string> lasting_job(const std::vector<std::string>& options = {}) {
  return tree(options, {"sh", "-c", "sleep 1000 & echo ready; wait"});
}

TEST(HostsTree, NobodyStartsMoreAgentsThanTheFanout) {
  child job(lasting_job());
  job.read_until("ready", 7);
  const auto agents = agents_of(job);
  EXPECT_EQ(agents.size(), 7u);
  // Between an agent and who has started it there are the starter's own processes.
  const auto starter_of = [&](pid_t agent) {
    pid_t process = parent_of(agent);
    while (process > 1 && process != job.pid() &&
           std::find(agents.begin(), agents.end(), process) == agents.end())
      process = parent_of(process);
    return process;
  };
  const auto started_by = [&](pid_t process) {
    return std::count_if(agents.begin(), agents.end(),
                         [&](pid_t agent) { return starter_of(agent) == process; });
  };
  EXPECT_EQ(started_by(job.pid()), 2);
  for (const pid_t agent : agents) EXPECT_LE(started_by(agent), 2);
  EXPECT_EQ(starter_of(agent_on(job, "g")), agent_on(job, "f"));
  job.send_signal(SIGTERM);
  EXPECT_EQ(job.finish().status, 128 + SIGTERM);
  EXPECT_THAT(job.marked(), IsEmpty());
}

TEST(HostsTree, RanksMeetHoweverFarTheyAre) {
  for (const char* fanout : {"1", "2", "3"}) {
    const auto how = run(probe_on_hosts(
        "a:2,b,c:2,d,e,f,g:3", with_fanout({}, fanout),
        {"exchange", "secrets", "barrier", "exchange-most", "leave", "exchange", "10:who"}));
    EXPECT_EQ(how.status, 0) << how.err;
    EXPECT_EQ(how.out, "rank 10 of 11, 3 here\n");
  }
}

TEST(HostsTree, EachRankHasItsHostsEnvironmentAndTheLaunchers) {
  const auto how = run(tree({"--env", "A=1"}, {"sh", "-c", "echo $HEDDLE_RANK $HOME $A"}));
  EXPECT_THAT(sorted_lines(how.out),
              ElementsAre("0 /home/at/a 1", "1 /home/at/b 1", "2 /home/at/c 1", "3 /home/at/d 1",
                          "4 /home/at/e 1", "5 /home/at/f 1", "6 /home/at/g 1"))
      << how.err;
}

TEST(HostsTree, MuchOutputComesWholeFromTheLastHost) {
  const auto how =
      run(tree({"--prefix"}, {"sh", "-c", "[ $HEDDLE_RANK != 6 ] || seq 200000; echo end >&2"}));
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_THAT(how.out, AllOf(testing::StartsWith("[6] 1\n"), testing::EndsWith("[6] 200000\n")));
  EXPECT_EQ(std::count(how.out.begin(), how.out.end(), '\n'), 200'000);
  EXPECT_EQ(sorted_lines(how.err).size(), 7u);
}

TEST(HostsTree, WhoReadsNoMoreEndsRanksOnTheLastHost) {
  const std::string job =
      HEDDLE " run --starter " PRETENDED_SSH
             " --fanout 1 --hosts a,b,c -- "
             "sh -c '[ $HEDDLE_RANK != 2 ] || exec yes' | head -1; echo ${PIPESTATUS[0]}";
  EXPECT_EQ(run({"bash", "-c", job}).out, "y\n141\n");
}

TEST(HostsTree, InputIsRankZeros) {
  const auto how =
      run(tree({}, {"sh", "-c", "echo $HEDDLE_RANK $(wc -c)"}), std::string(100'000, 'x'));
  EXPECT_THAT(sorted_lines(how.out),
              ElementsAre("0 100000", "1 0", "2 0", "3 0", "4 0", "5 0", "6 0"));
}

TEST(HostsTree, ARankThatFailsOnTheLastHostEndsTheJobWithItsStatus) {
  child job(tree({}, {"sh", "-c", "[ $HEDDLE_RANK != 6 ] || exit 3; sleep 1000"}));
  const auto how = job.finish();
  EXPECT_EQ(how.status, 3);
  EXPECT_THAT(how.err, AllOf(HasSubstr("rank 6 on g "), HasSubstr("exited with status 3")));
  EXPECT_THAT(job.marked(), IsEmpty());
  EXPECT_EQ(run(tree({}, {"sh", "-c", "[ $HEDDLE_RANK != 4 ] || kill -SEGV $$"})).status, 139);
  EXPECT_EQ(run(tree({}, {"./no-such-program"})).status, 127);
}

TEST(HostsTree, CtrlCReachesRanksOnAllHosts) {
  child job(lasting_job());
  job.read_until("ready", 7);
  job.send_signal(SIGINT);
  EXPECT_EQ(job.finish().status, 128 + SIGINT);
  EXPECT_THAT(job.marked(), IsEmpty());
}

TEST(HostsTree, SignalsReachRanksOnTheLastHost) {
  child job(tree(
      {}, {"sh", "-c", "trap 'echo got; exit 0' USR1; echo ready; while :; do sleep 0.05; done"}));
  job.read_until("ready", 7);
  job.send_signal(SIGUSR1);
  const auto how = job.finish();
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_EQ(std::count(how.out.begin(), how.out.end(), 'g'), 7);
}

TEST(HostsTree, CtrlZStopsRanksOnAllHostsUntilTheLauncherGoesOn) {
  child job(tree({}, {"sleep", "1000"}));
  const std::string command("sleep\0001000", 10);
  const auto in_state = [&](const char* state) {
    const auto ranks = with_command(job, command);
    return std::count_if(ranks.begin(), ranks.end(), [&](pid_t rank) {
      return contents(folder_of(rank) / "cmdline").starts_with("sleep") &&  // not the launcher
             contents(folder_of(rank) / "status").find(state) != std::string::npos;
    });
  };
  while (in_state("State:\tS") < 7) usleep(5000);
  job.send_signal(SIGTSTP);
  while (in_state("State:\tT") < 7) usleep(5000);
  job.send_signal(SIGCONT);
  while (in_state("State:\tS") < 7) usleep(5000);
  job.send_signal(SIGTERM);
  EXPECT_EQ(job.finish().status, 128 + SIGTERM);
  EXPECT_THAT(job.marked(), IsEmpty());
}

TEST(HostsTree, AKilledInnerAgentIsLostWithWhatIsBelowByName) {
  child job(lasting_job());
  job.read_until("ready", 7);
  kill(agent_on(job, "d"), SIGKILL);
  const auto how = job.finish();
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, AllOf(HasSubstr("host d is lost ("),
                             HasSubstr("), and with it e, f, g: ending the job")));
  job.wait_for_none_marked();
}

TEST(HostsTree, AKilledAgentAtTheEndIsLostAlone) {
  child job(lasting_job());
  job.read_until("ready", 7);
  kill(agent_on(job, "g"), SIGKILL);
  const auto how = job.finish();
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, AllOf(HasSubstr("host g is lost ("), HasSubstr("): ending the job"),
                             Not(HasSubstr("and with it"))));
  job.wait_for_none_marked();
}

TEST(HostsTree, OthersOfAKeptJobGoOnWithoutALostBranch) {
  child job(
      tree({"--keep-going"}, {"sh", "-c",
                              "echo ready; [ $HEDDLE_RANK -lt 5 ] || exec sleep 1000; read x; "
                              "[ -z \"$x\" ] || echo over"}));
  job.read_until("ready", 7);
  kill(agent_on(job, "f"), SIGKILL);
  job.type("x\n");
  const auto how = job.finish();
  EXPECT_THAT(how.out, HasSubstr("over"));
  EXPECT_THAT(how.err, AllOf(HasSubstr("host f is lost ("), HasSubstr("and with it g"),
                             Not(HasSubstr("ending the job"))));
  job.wait_for_none_marked();
}

TEST(HostsTree, AKilledLauncherLeavesNothingOnAnyHost) {
  child job(lasting_job());
  job.read_until("ready", 7);
  job.send_signal(SIGKILL);
  job.wait_for_none_marked();
}

TEST(HostsTree, ASilentAgentFarDownIsLost) {
  child job(lasting_job({"--silence-limit", "2"}));
  job.read_until("ready", 7);
  kill(agent_on(job, "g"), SIGSTOP);
  const auto how = job.finish();
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("host g is lost (nothing heard for 2 s): ending the job"));
  job.wait_for_none_marked();
}

TEST(HostsTree, AHostThatLetsAnotherHostNotInIsNamedWithBoth) {
  const auto how = run(tree({}, {"echo", "hello"}, "a,b,c,d,e,f,denied"));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.out, IsEmpty()) << "no rank starts before all hosts are reached";
  EXPECT_THAT(how.err, AllOf(HasSubstr("denied: "), HasSubstr("Permission denied (publickey)"),
                             HasSubstr("denied true` work on f without a password")));
}

TEST(HostsTree, WhoDoesNotWaitForASlowHostFarDownEndsTheLauncher) {
  child job(tree({}, {"true"}, "a,b,c,d,e,f,slow"));
  while (with_command(job, std::string("sleep\0001000", 10)).empty()) usleep(5000);
  job.send_signal(SIGINT);
  EXPECT_EQ(job.finish().status, 128 + SIGINT);
  job.wait_for_none_marked();
}

TEST(HostsTree, TheSecretIsInNoCommandLineAndNoEnvironment) {
  child job(probe_on_hosts(seven, with_fanout({}), {"0:tell-secret", "ready", "sleep"}));
  job.read_until("ready", 7);
  std::string all;
  for (const pid_t process : job.marked())
    for (const char* where : {"cmdline", "environ"}) all += contents(folder_of(process) / where);
  job.send_signal(SIGTERM);
  const auto lines = sorted_lines(job.finish().out);
  const auto longest = std::max_element(
      lines.begin(), lines.end(),
      [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  ASSERT_NE(longest, lines.end());
  ASSERT_GE(longest->size(), 64u);
  const std::string secret = longest->substr(0, 32);
  std::string bytes;
  for (std::size_t i = 0; i + 1 < secret.size(); i += 2)
    bytes += static_cast<char>(std::stoi(secret.substr(i, 2), nullptr, 16));
  EXPECT_EQ(all.find(secret), std::string::npos);
  EXPECT_EQ(all.find(bytes), std::string::npos);
}

}  // namespace
}  // namespace heddle::test
