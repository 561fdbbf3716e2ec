// SPDX-License-Identifier: BSD-3-Clause
// machine_lock.h - the machine's lock.
#pragma once
#include <cerrno>
#include <ctime>
#include <mutex>
#include <string>

#include "host/members.h"
#include "host/words.h"

namespace host {

/// A holder that died leaves nothing half done that forget_dead() would not mend.
class machine_guard {
 public:
  /// `job`: the machine's name, for what is said of a lock that nobody gives back.
  machine_guard(machine_head& head, const std::string& job) noexcept : lock_(head.lock) {
    int rc = pthread_mutex_trylock(&lock_);
    if (rc == EBUSY) rc = wait(job);
    if (rc == EOWNERDEAD) pthread_mutex_consistent(&lock_);
  }
  /// Holds it only where nobody else does.
  machine_guard(machine_head& head, std::try_to_lock_t) noexcept : lock_(head.lock) {
    const int rc = pthread_mutex_trylock(&lock_);
    if (rc == EOWNERDEAD) pthread_mutex_consistent(&lock_);
    held_ = rc == 0 || rc == EOWNERDEAD;
  }
  machine_guard(const machine_guard&) = delete;
  machine_guard& operator=(const machine_guard&) = delete;
  ~machine_guard() {
    if (held_) pthread_mutex_unlock(&lock_);
  }
  [[nodiscard]] explicit operator bool() const noexcept { return held_; }

 private:
  /// It is held for microseconds: who waits for seconds waits for a process that was stopped.
  int wait(const std::string& job) noexcept {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    const int rc = pthread_mutex_timedlock(&lock_, &until);
    if (rc != ETIMEDOUT) return rc;
    say("waiting for the lock of the machine \"%s\": is one of its processes stopped?",
        job.c_str());
    return pthread_mutex_lock(&lock_);
  }

  pthread_mutex_t& lock_;
  bool held_ = true;
};

}  // namespace host
