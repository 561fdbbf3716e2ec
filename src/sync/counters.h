// SPDX-License-Identifier: BSD-3-Clause
// counters.h - numbers that one thread at a time changes and any thread may read.
#pragma once
#include <atomic>
#include <cstdint>

namespace heddle::sync {

/// Written by one thread at a time (a lane's holder), read by anyone for reports and hints.
class owned_counter {
 public:
  [[gnu::always_inline]] void add(std::uint64_t n = 1) noexcept {
    // Relaxed, and no read-modify-write: there is one writer, and readers want no order.
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void subtract(std::uint64_t n = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) - n, std::memory_order_relaxed);  // as add
  }
  void set(std::uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Counted up by any thread.
class shared_counter {
 public:
  std::uint64_t next() noexcept {
    return value_.fetch_add(1, std::memory_order_relaxed);  // relaxed: only unique, orders nothing
  }
  [[nodiscard]] std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// A bit that one side sets and another sees, with everything written before it.
class event_bit {
 public:
  void set() noexcept { bit_.store(true, std::memory_order_release); }  // R1 pairs with A1
  void clear() noexcept { bit_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool is_set() const noexcept { return bit_.load(std::memory_order_acquire); }  // A1
  /// True for the one caller that finds it set. It looks first: seldom is there anything to take.
  [[nodiscard]] bool take() noexcept {
    return is_set() && bit_.exchange(false, std::memory_order_acq_rel);
  }

 private:
  std::atomic<bool> bit_{false};
};

}  // namespace heddle::sync
