// SPDX-License-Identifier: BSD-3-Clause
#include "run/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "run/failure.h"

namespace heddle::tools {
namespace {

bool ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

signal_catcher::signal_catcher() {
  sigemptyset(&caught_);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT})
    if (!ignored(s)) sigaddset(&caught_, s);
  sigaddset(&caught_, SIGCHLD);
  fd_.reset(signalfd(-1, &caught_, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) fail_errno(errno, "catch signals");
  for (std::size_t i = 0; i < silenced.size(); ++i) {
    struct sigaction wanted {};
    // An ignored SIGCHLD would let the kernel reap the ranks and forget how they ended.
    wanted.sa_handler = silenced[i] == SIGCHLD ? SIG_DFL : SIG_IGN;
    sigaction(silenced[i], &wanted, &before_[i]);
  }
  sigprocmask(SIG_BLOCK, &caught_, &mask_before_);
}

signal_catcher::~signal_catcher() {
  while (take() != 0) continue;  // late ones would kill us now that the job is over
  restore();
}

int signal_catcher::take() noexcept {
  signalfd_siginfo info{};
  ssize_t got = 0;
  do {
    got = read(fd_.get(), &info, sizeof info);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

void signal_catcher::restore() const noexcept {
  for (std::size_t i = 0; i < silenced.size(); ++i) sigaction(silenced[i], &before_[i], nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

}  // namespace heddle::tools
