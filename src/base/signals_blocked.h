// SPDX-License-Identifier: BSD-3-Clause
// signals_blocked.h - starting a thread of Heddle's own: signals are the program's.
#pragma once
#include <pthread.h>
#include <signal.h>

namespace heddle {

/// Threads started by this one while it is there begin with all signals blocked, so that none is
/// ever chosen for one.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace heddle
