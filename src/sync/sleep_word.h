// SPDX-License-Identifier: BSD-3-Clause
// sleep_word.h - says that its owner is about to sleep and wants to be woken, once.
#pragma once
#include <atomic>
#include <cstdint>

#include "sync/asymmetric.h"

namespace heddle::sync {

/// How the busy side may look at a sleep_word.
enum class glance : std::uint8_t {
  cheap,  ///< a plain load: its process and the sleeper's both have enable_asymmetric() == true
  full,   ///< a read-modify-write, which needs nothing of the kernel
};

/// One word, valid in shared memory; zero-filled memory is an awake owner.
///
/// Owner: mark_asleep(), heavy_barrier(), look for work once more, sleep, mark_awake().
/// Others: publish work, should_wake(); whoever gets true wakes the owner by other means.
/// With glance::full the order follows from the word itself: all accesses are read-modify-writes,
/// so either should_wake() comes second and sees 1, or mark_asleep() comes second and acquires what
/// was published (A1 pairs with R1). With glance::cheap the heavy barrier stands for that.
class sleep_word {
 public:
  void mark_asleep() noexcept {
    word_.exchange(1, std::memory_order_acq_rel);  // A1 pairs with R1; release: see A2
  }
  /// True: somebody took the wake-up upon itself since mark_asleep().
  bool mark_awake() noexcept {
    return word_.exchange(0, std::memory_order_acq_rel) == 0;  // A1 pairs with R1
  }
  /// As far as is known: for who can do with either answer.
  [[nodiscard]] bool seems_asleep() const noexcept {
    return word_.load(std::memory_order_relaxed) != 0;  // relaxed: orders nothing
  }
  [[nodiscard]] bool should_wake(glance how) noexcept {
    if (how == glance::cheap) {
      light_barrier();  // pairs with heavy_barrier() after mark_asleep()
      // Relaxed: a stale 0 is excluded by the barriers, a 1 is confirmed by the exchange.
      if (word_.load(std::memory_order_relaxed) == 0) return false;
    }
    // R1 pairs with A1; A2: sees what the owner prepared before mark_asleep() (its doorbell).
    return word_.exchange(0, std::memory_order_acq_rel) != 0;
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace heddle::sync
