// SPDX-License-Identifier: BSD-3-Clause
// hosts_loss_test.cpp - launchers, agents and starters that die or fall silent, and what others
// could read of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

#include "system/child.h"
#include "system/job_processes.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two ranks on each host that have started something themselves.
std::vector<std::string> lasting_job(const std::string& hosts, const std::string& limit = "30") {
  return run_on_hosts(hosts, {"--silence-limit", limit},
                      {"sh", "-c", "sleep 1000 & echo ready; wait"});
}

TEST(HostsLoss, AKilledLauncherLeavesNothingOnAnyHost) {
  child job(lasting_job("a:2,shell:2"));
  job.read_until("ready", 4);
  job.send_signal(SIGKILL);
  job.wait_for_none_marked();
}

std::vector<pid_t> starter_of_shell(const child& job) {
  return with_command(job, std::string("pretended_ssh.sh\0shell", 22));
}

/// How one of two hosts is lost, and what the launcher says of it.
struct loss {
  const char *name, *hosts, *silence_limit_s;
  std::vector<pid_t> (*candidates)(const child&);
  std::size_t expected;  ///< of them; the last one gets the signal
  int signal;
  const char* told;
};
void PrintTo(const loss& l, std::ostream* out) {
  *out << l.name;
}
class HostsLossBy : public testing::TestWithParam<loss> {};

TEST_P(HostsLossBy, EndsTheJobAndLeavesNothing) {
  child job(lasting_job(GetParam().hosts, GetParam().silence_limit_s));
  job.read_until("ready", 4);
  const auto victims = GetParam().candidates(job);
  ASSERT_EQ(victims.size(), GetParam().expected);
  kill(victims.back(), GetParam().signal);
  const auto how = job.finish();
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, AllOf(HasSubstr("host "), HasSubstr(GetParam().told),
                             HasSubstr("): ending the job")));
  job.wait_for_none_marked();
}

INSTANTIATE_TEST_SUITE_P(Ends, HostsLossBy,
                         testing::Values(loss{"AKilledAgent", "a:2,b:2", "30", agents_of, 2,
                                              SIGKILL, " is lost ("},
                                         loss{"AKilledStarter", "a:2,shell:2", "30",
                                              starter_of_shell, 1, SIGKILL, "host shell is lost ("},
                                         loss{"ASilentHost", "a:2,b:2", "2", agents_of, 2, SIGSTOP,
                                              " is lost (nothing heard for 2 s"}),
                         [](const auto& which) { return which.param.name; });

TEST(HostsLoss, RanksOfASilentLauncherAreEnded) {
  child job(lasting_job("a:2,b:2", "2"));
  job.read_until("ready", 4);
  job.send_signal(SIGSTOP);  // unlike Ctrl-Z it tells nobody
  // The launcher's own command line has "sleep 1000", but as one word.
  while (!with_command(job, std::string("sleep\0001000", 10)).empty()) usleep(5000);
  job.send_signal(SIGCONT);
  EXPECT_EQ(job.finish().status, 1);
  EXPECT_THAT(job.marked(), IsEmpty());
}

/// On two hosts, of which one never answers.
std::vector<std::string> job_that_does_not_start() {
  return run_on_hosts("a,slow", {"--silence-limit", "2"}, {"true"});
}

/// Of the host that answers; it has had time to, and to hear how long the launcher may be silent.
pid_t agent_that_waits(const child& job) {
  const auto keeps_its_pipe = [](pid_t agent) {
    const auto output = "/proc/" + std::to_string(agent) + "/fd/1";
    std::error_code gone;
    return std::filesystem::read_symlink(output, gone) != "/dev/null";
  };
  std::vector<pid_t> agents;  // of one look: another may not find it
  while (agents.empty() || keeps_its_pipe(agents.front())) {
    usleep(5000);
    agents = agents_of(job);
  }
  sleep(1);
  return agents.front();
}

TEST(HostsLoss, AnAgentWithoutASetUpDoesNotOutliveASilentLauncher) {
  child job(job_that_does_not_start());
  agent_that_waits(job);
  job.send_signal(SIGSTOP);
  while (!agents_of(job).empty()) usleep(5000);
  job.send_signal(SIGCONT);
  EXPECT_EQ(job.finish().status, 1);
}

TEST(HostsLoss, AHostThatFallsSilentWhileOthersStartIsLost) {
  child job(job_that_does_not_start());
  kill(agent_that_waits(job), SIGSTOP);
  const auto how = job.finish();
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("host a is lost (nothing heard for 2 s)"));
}

TEST(HostsLoss, TheSilenceOfAHostIsNotCountedWhileItStarts) {
  const auto how = run(run_on_hosts("tardy,a", {"--silence-limit", "1"}, {"echo", "hello"}));
  EXPECT_EQ(how.out, "hello\nhello\n") << how.err;
}

TEST(HostsLoss, OthersOfAKeptJobGoOnWithoutALostHost) {
  child job(run_on_hosts("a,b", {"--keep-going"}, {"sh", "-c", "echo ready; read x; sleep 0.5"}));
  job.read_until("ready", 2);
  const auto agents = agents_of(job);
  ASSERT_EQ(agents.size(), 2u);
  kill(agents.back(), SIGKILL);
  job.end_input();
  const auto how = job.finish();
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, AllOf(HasSubstr(" is lost ("), testing::Not(HasSubstr("ending"))));
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

TEST(HostsLoss, TheSecretIsInNoCommandLineAndNoEnvironment) {
  const std::string file = testing::TempDir() + "/secret-" + std::to_string(getpid());
  child job(run_on_hosts("a:2,shell:2", {},
                         {"sh", "-c",
                          "[ $HEDDLE_RANK != 0 ] || exec > " + file +
                              "; exec " BOOT_PROBE " 0:tell-secret ready sleep"}));
  job.read_until("ready", 3);  // rank 0 prints into the file
  std::string hex;
  while (hex.size() < 64) hex = contents(file);
  hex.resize(64);
  unlink(file.c_str());
  const std::string secret = from_hex(hex);
  for (const pid_t process : job.marked())
    for (const char* where : {"cmdline", "environ"}) {
      const std::string text = contents(folder_of(process) / where);
      EXPECT_EQ(text.find(secret.substr(0, 16)), std::string::npos);
      EXPECT_EQ(text.find(hex.substr(0, 16)), std::string::npos);
    }
  job.send_signal(SIGTERM);
  EXPECT_EQ(job.finish().status, 128 + SIGTERM);
}

/// Inodes of all TCP sockets that listen in this network namespace.
std::set<std::string> listening_inodes() {
  std::set<std::string> inodes;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
      if (all.size() > 9 && all[3] == "0A") inodes.insert("socket:[" + all[9] + "]");
    }
  }
  return inodes;
}

TEST(HostsLoss, NoPortIsOpened) {
  child job(lasting_job("a:2,shell:2"));
  job.read_until("ready", 4);
  const auto listening = listening_inodes();
  int looked_at = 0;
  for (const pid_t process : job.marked()) {
    std::error_code gone;
    for (const auto& fd : std::filesystem::directory_iterator(folder_of(process) / "fd", gone)) {
      ++looked_at;
      const auto target = std::filesystem::read_symlink(fd, gone);
      EXPECT_FALSE(listening.contains(target.string())) << "process " << process;
    }
  }
  EXPECT_GT(looked_at, 0);
}

}  // namespace
}  // namespace heddle::test
