// machine_lock.h - the machine's lock.
#pragma once
#include <cerrno>

#include "machine.h"

namespace tofu {

/// A holder that died left nothing half done that clean() would not mend.
class machine::guard {
 public:
  explicit guard(machine_file& file) noexcept : lock_(file.lock) {
    if (pthread_mutex_lock(&lock_) == EOWNERDEAD) pthread_mutex_consistent(&lock_);
  }
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  ~guard() { pthread_mutex_unlock(&lock_); }

 private:
  pthread_mutex_t& lock_;
};

inline machine::guard machine::lock() const noexcept {
  return guard(file());
}

}  // namespace tofu
