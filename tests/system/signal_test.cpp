// SPDX-License-Identifier: BSD-3-Clause
// signal_test.cpp - signals sent to `heddle run`, from a user or a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class EndingSignal : public testing::TestWithParam<int> {};

TEST_P(EndingSignal, EndsAllRanksAndWhatTheyStarted) {
  child job(heddle_run({"-n", "3"}, {"sh", "-c", "sleep 1000 & echo ready; wait"}));
  job.read_until("ready", 3);
  job.send_signal(GetParam());
  EXPECT_EQ(job.finish().status, 128 + GetParam());
  EXPECT_THAT(job.marked(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Signals, EndingSignal, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT));

TEST(Signals, UserSignalsArePassedOnAndEndNothing) {
  const char* script =
      "trap 'echo one' USR1; trap 'echo two; exit 0' USR2; echo ready; while :; do sleep 0.02; "
      "done";
  child job(heddle_run({"-n", "2"}, {"sh", "-c", script}));
  job.read_until("ready", 2);
  job.send_signal(SIGUSR1);
  job.read_until("one", 2);
  job.send_signal(SIGUSR2);
  job.read_until("two", 2);
  EXPECT_EQ(job.finish().status, 0);
}

TEST(Signals, ASecondRequestEndsRanksThatIgnoreTheFirst) {
  child job(heddle_probe({"-n", "2"}, {"deaf", "ready", "sleep"}));
  job.read_until("ready", 2);
  job.send_signal(SIGINT);
  job.send_signal(SIGTERM);  // another one, since two of one kind can arrive as one
  EXPECT_THAT(job.finish().status, testing::AnyOf(128 + SIGINT, 128 + SIGTERM));
  EXPECT_THAT(job.marked(), IsEmpty());
}

TEST(Signals, AnIgnoredHangUpStaysIgnored) {
  const char* script = "trap 'exit 0' USR1; echo ready; while :; do sleep 0.02; done";
  auto words = heddle_run({"-n", "2"}, {"sh", "-c", script});
  words.insert(words.begin(), "nohup");
  child job(words);
  job.read_until("ready", 2);
  job.send_signal(SIGHUP);
  job.send_signal(SIGUSR1);
  EXPECT_EQ(job.finish().status, 0);
}

TEST(Signals, RanksStopAndContinueWithTheLauncher) {
  child job(heddle_run({"-n", "2"}, {"sh", "-c", "echo ready; read x; echo more"}));
  job.read_until("ready", 2);
  job.send_signal(SIGTSTP);
  int how = 0;
  ASSERT_EQ(waitpid(job.pid(), &how, WUNTRACED), job.pid());
  EXPECT_TRUE(WIFSTOPPED(how));
  job.send_signal(SIGCONT);
  job.type("\n");
  job.read_until("more", 2);
  EXPECT_EQ(job.finish().status, 0);
}

/// `heddle run` at a terminal of its own.
class AtATerminal : public testing::Test {
 protected:
  void start(const std::vector<std::string>& command) {
    pid_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    ASSERT_GE(pid_, 0);
    if (pid_ != 0) return;
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(99);
  }
  ~AtATerminal() override {
    if (terminal_ >= 0) close(terminal_);
  }
  void type(const std::string& keys) const {
    EXPECT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void read_until(const std::string& text) {
    std::array<char, 1024> buffer;
    while (seen_.find(text) == std::string::npos) {
      const ssize_t got = read(terminal_, buffer.data(), buffer.size());
      ASSERT_GT(got, 0) << "'" << text << "' is not in: " << seen_;
      seen_.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  [[nodiscard]] int status() const {
    int how = 0;
    EXPECT_EQ(waitpid(pid_, &how, 0), pid_);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
  }

  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string seen_;
};

TEST_F(AtATerminal, WhatIsTypedReachesRankZero) {
  start(heddle_run({"-n", "2"},
                   {"sh", "-c", "[ $HEDDLE_RANK = 1 ] && exit; read word; echo heard $word"}));
  type("hello\n");
  read_until("heard hello");
  EXPECT_EQ(status(), 0);
}

TEST_F(AtATerminal, TheEndOfInputReachesRankZero) {
  start(heddle_run({"-n", "1"}, {"sh", "-c", "cat; echo over"}));
  type("first\n\x04");
  read_until("over");
  EXPECT_EQ(status(), 0);
}

TEST_F(AtATerminal, CtrlCEndsTheJob) {
  start(heddle_run({"-n", "3"}, {"sh", "-c", "echo ready; sleep 1000"}));
  read_until("ready");
  type("\x03");
  EXPECT_EQ(status(), 128 + SIGINT);
}

TEST_F(AtATerminal, WhatIsTypedReachesRankZeroOnAnotherHost) {
  start(run_on_hosts("a,b", {},
                     {"sh", "-c", "[ $HEDDLE_RANK = 1 ] && exit; read word; echo heard $word"}));
  type("hello\n");
  read_until("heard hello");
  EXPECT_EQ(status(), 0);
}

TEST_F(AtATerminal, CtrlCEndsTheJobOnAllHosts) {
  start(run_on_hosts("a:2,shell:2", {}, {"sh", "-c", "echo ready; sleep 1000"}));
  read_until("ready");
  type("\x03");
  EXPECT_EQ(status(), 128 + SIGINT);
}

}  // namespace
}  // namespace heddle::test
