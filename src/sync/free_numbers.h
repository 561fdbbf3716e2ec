// SPDX-License-Identifier: BSD-3-Clause
// free_numbers.h - numbers that are taken and given back all the time, by any thread without a
// lock, and mostly without touching what another thread touches.
//
// What a home gives back it gets again, last first, from a stack of its own. A head counts its
// changes beside the number on top: who was held up between looking at a head and changing it finds
// another count, even if the same number is on top again.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sync/cache_line.h"

namespace heddle::sync {

/// What each number has, for this. A number that is taken is its taker's.
template <template <class> class Atomic = std::atomic>
struct free_number {
  Atomic<std::uint32_t> below{};  // the next one of its stack, plus one; 0: none
  std::uint32_t home = 0;
};

/// Numbers from `first` to below `limit`. `Links` has find(number) and make(number), pointers to a
/// free_number; make() answers null when there is no memory for one more. `Atomic` is std::atomic;
/// tests/model puts in one that stops at each access.
template <class Links, template <class> class Atomic = std::atomic>
class free_numbers {
 public:
  static constexpr std::size_t homes = 64;

  free_numbers(Links links, std::uint32_t first, std::uint32_t limit)
      : links_(links), limit_(limit), never_used_(first) {}

  /// Nothing: all are taken. Any thread; those of another home do not meet here, while there are
  /// enough.
  [[nodiscard]] std::optional<std::uint32_t> take(std::size_t home) noexcept {
    home %= homes;
    std::optional<std::uint32_t> got = pop(heads_[home].word);
    if (!got) got = next_unused();
    for (std::size_t other = 1; !got && other != homes; ++other)
      got = pop(heads_[(home + other) % homes].word);
    if (got) links_.find(*got)->home = static_cast<std::uint32_t>(home);
    return got;
  }
  /// One that was taken. Any thread.
  void give_back(std::uint32_t number) noexcept {
    free_number<Atomic>& link = *links_.find(number);
    Atomic<std::uint64_t>& head = heads_[link.home].word;
    std::uint64_t seen = head.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    do {
      link.below.store(top(seen), std::memory_order_relaxed);  // relaxed: published by R1
      // R1 pairs with A1: who takes it sees what its last taker did. Later changes of the head read
      // and write it, so they pass that on.
    } while (!head.compare_exchange_weak(seen, next(seen, number + 1), std::memory_order_release,
                                         std::memory_order_relaxed));
  }

 private:
  struct alignas(cache_line) head_t {
    Atomic<std::uint64_t> word{};  // changes so far, and the number on top, plus one
  };
  static std::uint32_t top(std::uint64_t head) noexcept { return static_cast<std::uint32_t>(head); }
  static std::uint64_t next(std::uint64_t head, std::uint32_t top) noexcept {
    return ((head >> 32) + 1) << 32 | top;
  }

  std::optional<std::uint32_t> pop(Atomic<std::uint64_t>& head) noexcept {
    std::uint64_t seen = head.load(std::memory_order_acquire);  // A1 pairs with R1
    while (top(seen) != 0) {
      // Relaxed: A1 has shown it, unless another took the number since; then the exchange fails.
      const std::uint32_t below = links_.find(top(seen) - 1)->below.load(std::memory_order_relaxed);
      // A1 pairs with R1: where it fails, for the next look.
      if (head.compare_exchange_weak(seen, next(seen, below), std::memory_order_acquire,
                                     std::memory_order_acquire))
        return top(seen) - 1;
    }
    return {};
  }
  std::optional<std::uint32_t> next_unused() noexcept {
    // Relaxed: the number is nobody else's, and nobody has written anything that belongs to it.
    std::uint32_t number = never_used_.load(std::memory_order_relaxed);
    do {
      if (number >= limit_ || links_.make(number) == nullptr) return {};
    } while (!never_used_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed,
                                                std::memory_order_relaxed));
    return number;
  }

  Links links_;
  const std::uint32_t limit_;
  alignas(cache_line) Atomic<std::uint32_t> never_used_;
  std::array<head_t, homes> heads_{};
};

}  // namespace heddle::sync
