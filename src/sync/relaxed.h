// SPDX-License-Identifier: BSD-3-Clause
// relaxed.h - a value that threads share and that orders nothing else [relaxed].
#pragma once
#include <atomic>

namespace heddle::sync {

/// For hints and reports: whoever reads it can do with the value from before as well, and reads no
/// other memory because of what it says. Who has to know that a value is the current one learns it
/// otherwise.
template <class T>
class relaxed {
  static_assert(std::atomic<T>::is_always_lock_free);

 public:
  void set(T value) noexcept { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] T get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

}  // namespace heddle::sync
