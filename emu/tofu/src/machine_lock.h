// machine_lock.h - the machine's lock.
#pragma once
#include <cerrno>
#include <mutex>

#include "machine.h"

namespace tofu {

/// A holder that died left nothing half done that clean() would not mend.
class machine::guard {
 public:
  explicit guard(machine_file& file) noexcept : lock_(file.lock) {
    if (pthread_mutex_lock(&lock_) == EOWNERDEAD) pthread_mutex_consistent(&lock_);
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
  pthread_mutex_t& lock_;
  bool held_ = true;
};

inline machine::guard machine::lock() const noexcept {
  return guard(file());
}

}  // namespace tofu
