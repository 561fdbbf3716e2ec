// SPDX-License-Identifier: BSD-3-Clause
// joint_work.h - what chains of work share that take items in turn and end as one.
#pragma once
#include <heddle/status.h>

#include <atomic>
#include <cstdint>

namespace heddle::sync {

/// Whoever starts counts as a chain. Any thread, but for code() and sum(), which are for whoever
/// left last.
class joint_work {
 public:
  /// Items from number `first` on; two chains: whoever starts, and the first.
  explicit joint_work(std::uint64_t first) noexcept : next_(first) {}

  /// Whether a chain should go on: there are `items`. After the first failure none does.
  [[nodiscard]] bool has_more(std::uint64_t items) const noexcept {
    // Relaxed: hints. Who gets an item, take() says.
    return next_.load(std::memory_order_relaxed) < items &&
           code_.load(std::memory_order_relaxed) == status::done;
  }
  /// The caller's item from now on; it may be behind the last.
  std::uint64_t take() noexcept {
    return next_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  }
  // Relaxed: who leaves last has acquired them, see leave().
  void add(std::uint64_t n) noexcept { sum_.fetch_add(n, std::memory_order_relaxed); }
  /// True: the first to fail.
  bool fail(status code) noexcept {
    status none = status::done;
    return code_.compare_exchange_strong(none, code, std::memory_order_relaxed);
  }

  void join() noexcept {
    chains_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller's own keeps it above 0
  }
  /// True: that was the last chain, and everything the others did is visible.
  [[nodiscard]] bool leave() noexcept {
    return chains_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // pairs with itself
  }
  [[nodiscard]] status code() const noexcept {
    return code_.load(std::memory_order_relaxed);  // relaxed: after leave()
  }
  [[nodiscard]] std::uint64_t sum() const noexcept {
    return sum_.load(std::memory_order_relaxed);  // relaxed: after leave()
  }

 private:
  std::atomic<std::uint64_t> next_;
  std::atomic<int> chains_{2};
  std::atomic<status> code_{status::done};
  std::atomic<std::uint64_t> sum_{0};
};

}  // namespace heddle::sync
