// SPDX-License-Identifier: BSD-3-Clause
#include "run/guardian.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "run/failure.h"

namespace heddle::tools {
namespace {

// Each message is a group to watch, or minus a group to forget.
void follow(int pipe, std::set<pid_t>& groups) {
  for (;;) {
    pid_t message = 0;
    const ssize_t got = read(pipe, &message, sizeof message);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof message)) return;  // four bytes come whole or not at all
    if (message > 0)
      groups.insert(message);
    else
      groups.erase(-message);
  }
}

// In a session of its own and deaf to signals: what ends the launcher must not end the guardian.
[[noreturn]] void stand_guard(int pipe) {
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  if (pipe != 0) dup2(pipe, 0);
  close_range(1, ~0u, 0);
  std::set<pid_t> groups;
  follow(0, groups);
  for (const pid_t group : groups) kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

guardian::guardian() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_errno(errno, "make a pipe");
  const unique_fd theirs(ends[0]);
  pipe_.reset(ends[1]);
  process_ = fork();
  if (process_ < 0) fail_errno(errno, "start the guardian process");
  if (process_ == 0) stand_guard(theirs.get());
}

guardian::~guardian() {
  pipe_.reset();
  kill(process_, SIGCONT);  // also one that somebody has stopped is to end
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void guardian::tell(pid_t message) const noexcept {
  while (write(pipe_.get(), &message, sizeof message) < 0 && errno == EINTR) continue;
}

}  // namespace heddle::tools
