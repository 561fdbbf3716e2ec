// SPDX-License-Identifier: BSD-3-Clause
// published.h - one value that one side sets and others read, with what was written before it.
#pragma once
#include <atomic>
#include <type_traits>

namespace heddle::sync {

/// Valid in memory shared between processes, and zero-filled memory is one holding zero.
template <class T>
class published {
  static_assert(std::is_trivially_copyable_v<T> && std::atomic<T>::is_always_lock_free);

 public:
  published() = default;
  constexpr explicit published(T value) noexcept : value_(value) {}

  void set(T value) noexcept {
    value_.store(value, std::memory_order_release);  // R1 pairs with A1 in get()
  }
  [[nodiscard]] T get() const noexcept {
    return value_.load(std::memory_order_acquire);  // A1 pairs with R1
  }

 private:
  std::atomic<T> value_{};
};

}  // namespace heddle::sync
