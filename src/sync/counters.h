// SPDX-License-Identifier: BSD-3-Clause
// counters.h - numbers that count and order nothing else [relaxed].
#pragma once
#include <atomic>
#include <cstdint>

namespace heddle::sync {

/// For what one thread at a time counts (a lane's holder) and anyone reads for reports and hints:
/// cheaper than shared_counter, as it needs no read-modify-write.
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

/// For what any thread may count, and for numbers that nobody else has.
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

}  // namespace heddle::sync
