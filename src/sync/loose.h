// SPDX-License-Identifier: BSD-3-Clause
// loose.h - a value that is read beside its being written, by those who can do with any of the two.
#pragma once
#include <atomic>

namespace heddle::sync {

/// Orders nothing: whoever has to know that a value is the current one learns it otherwise.
template <class T>
class loose {
  static_assert(std::atomic<T>::is_always_lock_free);

 public:
  void set(T value) noexcept { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] T get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

}  // namespace heddle::sync
