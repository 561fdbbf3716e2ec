// SPDX-License-Identifier: BSD-3-Clause
#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#ifdef __linux__
#include <sys/prctl.h>
#endif

extern char** environ;

namespace conformance {
namespace {

/// Our environment, but for the rank the software device goes by.
std::vector<std::string> environment_of(int rank) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    if (std::string(*one).rfind("SOFTTOFU_RANK=", 0) != 0) all.emplace_back(*one);
  }
  all.push_back("SOFTTOFU_RANK=" + std::to_string(rank));
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> all;
  all.reserve(strings.size() + 1);
  for (std::string& one : strings) all.push_back(one.data());
  all.push_back(nullptr);
  return all;
}

/// A file without a name.
int scratch_file() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/tofu_conformance.XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) throw std::runtime_error("no temporary file in " + path);
  unlink(path.c_str());
  fcntl(file, F_SETFD, FD_CLOEXEC);
  return file;
}

/// Kept away from descriptor 3, which the new process finds its end at.
int away_from_its_end(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, process::its_end + 1);
  close(descriptor);
  return moved;
}

}  // namespace

double deadline::left() const {
  const std::chrono::duration<double> rest = at_ - std::chrono::steady_clock::now();
  return std::max(0.0, rest.count());
}

process::process(std::vector<std::string> arguments, int rank) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("no socketpair");
  ours_ = away_from_its_end(ends[0]);
  const int theirs = away_from_its_end(ends[1]);
  errors_ = away_from_its_end(scratch_file());

  arguments.insert(arguments.begin(), "tofu_conformance");
  std::vector<std::string> environment = environment_of(rank);
  const std::vector<char*> argv = pointers_to(arguments), envp = pointers_to(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, its_end);
  posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  const int failure =
      posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(theirs);
  if (failure != 0) throw std::runtime_error("cannot start this program again");
}

process::~process() {
  kill_now();
  close(ours_);
  close(errors_);
}

void process::kill_now() {
  if (ended_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, &status_, 0);
  ended_ = true;
}

bool process::wait(double seconds) {
  const deadline over(seconds);
  while (!ended_) {
    ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    if (ended_ || over.passed()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ended_;
}

bool process::killed_by_signal() const {
  return ended_ && WIFSIGNALED(status_);
}

std::string process::ending() const {
  std::string how = "still running";
  if (ended_ && WIFSIGNALED(status_)) how = "signal " + std::to_string(WTERMSIG(status_));
  if (ended_ && WIFEXITED(status_)) how = "exit status " + std::to_string(WEXITSTATUS(status_));
  std::string last = said();
  while (!last.empty() && last.back() == '\n') last.pop_back();
  last.erase(0, last.rfind('\n') + 1);
  return last.empty() ? how : how + ", \"" + last + "\"";
}

std::string process::said() const {
  std::string all(16384, '\0');
  const ssize_t got = pread(errors_, all.data(), all.size(), 0);
  all.resize(got > 0 ? std::size_t(got) : 0);
  return all;
}

void die_with_parent() {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

}  // namespace conformance
