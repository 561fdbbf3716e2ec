// SPDX-License-Identifier: BSD-3-Clause
// own_thread.h - starting a thread of Heddle's own.
#pragma once
#include <pthread.h>

#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/signals_blocked.h"

namespace heddle {

/// Runs `body` in a thread of that name. Throws error: the system gives no more of them.
template <class F>
std::thread start_thread(const char* name, F&& body) {
  const signals_blocked during;
  try {
    std::thread made(std::forward<F>(body));
    pthread_setname_np(made.native_handle(), name);
    return made;
  } catch (const std::system_error& refused) {
    fail_errno(refused.code().value(),
               "start thread {}: no more threads (ulimit -u, pids.max of the control group), or no "
               "memory for its stack (ulimit -s, -v)",
               name);
  }
}

}  // namespace heddle
