// SPDX-License-Identifier: BSD-3-Clause
// release_acquire.h - what one side sets and others read, with what was written before it [release
// and acquire].
#pragma once
#include <atomic>
#include <type_traits>

namespace heddle::sync {

/// For a value that tells readers that other memory is ready: who reads the new value sees all that
/// was written before it was set. It says nothing of what the setter reads afterwards; where each
/// side sets a word and then looks at the other's, take sequential_flag.
///
/// Valid in memory shared between processes, and zero-filled memory is one holding zero.
template <class T>
class release_acquire {
  static_assert(std::is_trivially_copyable_v<T> && std::atomic<T>::is_always_lock_free);

 public:
  release_acquire() = default;
  constexpr explicit release_acquire(T value) noexcept : value_(value) {}

  void set(T value) noexcept {
    value_.store(value, std::memory_order_release);  // R1 pairs with A1 in get()
  }
  [[nodiscard]] T get() const noexcept {
    return value_.load(std::memory_order_acquire);  // A1 pairs with R1
  }

 private:
  std::atomic<T> value_{};
};

/// For news that is taken once: who finds it set sees all that was written before it was.
class release_acquire_flag {
 public:
  void set() noexcept { flag_.store(true, std::memory_order_release); }  // R1 pairs with A1
  /// By who has no use for the news: relaxed, it hands nothing over.
  void clear() noexcept { flag_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool is_set() const noexcept {
    return flag_.load(std::memory_order_acquire);
  }  // A1
  /// True for the one caller that finds it set. It looks first: seldom is there anything to take.
  [[nodiscard]] bool take() noexcept {
    return is_set() && flag_.exchange(false, std::memory_order_acq_rel);  // A1 pairs with R1
  }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace heddle::sync
