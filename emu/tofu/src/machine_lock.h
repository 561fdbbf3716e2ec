// machine_lock.h - the machine's lock.
#pragma once
#include <cerrno>
#include <ctime>
#include <mutex>

#include "host/words.h"
#include "machine.h"

namespace tofu {

/// A holder that died left nothing half done that clean() would not mend.
class machine::guard {
 public:
  explicit guard(machine_file& file) noexcept : lock_(file.lock) {
    int rc = pthread_mutex_trylock(&lock_);
    if (rc == EBUSY) rc = wait();
    if (rc == EOWNERDEAD) pthread_mutex_consistent(&lock_);
  }
  /// Holds it only where nobody else does.
  guard(machine_file& file, std::try_to_lock_t) noexcept : lock_(file.lock) {
    const int rc = pthread_mutex_trylock(&lock_);
    if (rc == EOWNERDEAD) pthread_mutex_consistent(&lock_);
    held_ = rc == 0 || rc == EOWNERDEAD;
  }
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  ~guard() {
    if (held_) pthread_mutex_unlock(&lock_);
  }
  [[nodiscard]] explicit operator bool() const noexcept { return held_; }

 private:
  /// It is held for microseconds: who waits for seconds waits for a process that was stopped.
  int wait() noexcept {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    const int rc = pthread_mutex_timedlock(&lock_, &until);
    if (rc != ETIMEDOUT) return rc;
    host::say("waiting for the lock of the machine \"%s\": is one of its processes stopped?",
              job_name().c_str());
    return pthread_mutex_lock(&lock_);
  }

  pthread_mutex_t& lock_;
  bool held_ = true;
};

inline machine::guard machine::lock() const noexcept {
  return guard(file());
}

}  // namespace tofu
