// SPDX-License-Identifier: BSD-3-Clause
// join.h - tells the last of several that end at the same time, on any threads, that it is the
// last.
#pragma once
#include <atomic>
#include <cstddef>

namespace heddle::detail {

/// Counts down from the number of those who will arrive.
class join {
 public:
  explicit join(std::size_t arrivals) noexcept : missing_(arrivals) {}
  /// True for the last. Whoever gets false must not touch this or what it guards again: the last
  /// may have destroyed it. What each did before arriving is visible to the last.
  [[nodiscard]] bool arrive() noexcept {
    // J1 pairs with itself: the others' decrements release, the last one's acquires them all.
    return missing_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  std::atomic<std::size_t> missing_;
};

}  // namespace heddle::detail
