// SPDX-License-Identifier: BSD-3-Clause
// slot_life.h - which of its lives a slot is in, so that each is begun and ended once.
#pragma once
#include <atomic>
#include <cstdint>

namespace heddle::sync {

/// The generation of the last life in the high half, and how far it is.
class slot_life {
 public:
  /// False: another life is on. Who is told true has the slot for itself, but for those who name
  /// this life.
  [[nodiscard]] bool try_begin(std::uint32_t generation) noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    // A1 pairs with R1: what the last life left behind is seen. Once: it is as good as being
    // second.
    return step_of(seen) == empty &&
           word_.compare_exchange_strong(seen, word(generation, open), std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  /// True once, and only for the life that is on: ended() must follow. Relaxed: who names a life
  /// has heard of it from who began it.
  [[nodiscard]] bool try_end(std::uint32_t generation) noexcept {
    std::uint64_t seen = word(generation, open);
    return word_.compare_exchange_strong(seen, word(generation, ending), std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }
  void ended() noexcept {
    // Relaxed: ours. R1 pairs with A1.
    const std::uint32_t generation = last();
    word_.store(word(generation, empty), std::memory_order_release);
  }
  /// A hint where others may begin a life. Relaxed: try_begin() makes sure.
  [[nodiscard]] bool is_empty() const noexcept {
    return step_of(word_.load(std::memory_order_relaxed)) == empty;
  }
  /// The generation of the last life; 0: there was none. Relaxed: for who has the slot for itself.
  [[nodiscard]] std::uint32_t last() const noexcept {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_relaxed) >> 32);
  }

 private:
  enum step : std::uint32_t { empty, open, ending };
  static std::uint64_t word(std::uint32_t generation, step s) noexcept {
    return std::uint64_t{generation} << 32 | s;
  }
  static std::uint32_t step_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  std::atomic<std::uint64_t> word_{0};
};

}  // namespace heddle::sync
