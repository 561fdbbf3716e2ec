// SPDX-License-Identifier: BSD-3-Clause
// cq_entry.h - who may be inside a CQ's queue operations.
#pragma once
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "cq.h"
#include "host/words.h"

namespace tofu {

/// Being inside. A VCQ with THREAD_SAFE waits for its turn; one without, which on the hardware
/// writes its command into the TOQ unprotected, must not meet anybody: that ends the program.
class cq::entry {
 public:
  entry(cq& queue, const vcq& by) noexcept : inside_(queue.inside_) {
    for (std::uint32_t who = 0; !try_enter(a_program, who); wait()) {
      if (who == a_program && !by.thread_safe) raise_exception(by);
    }
  }
  /// For the library itself, when a VCQ comes or goes: that is no use of the queues, so all wait.
  explicit entry(cq& queue) noexcept : inside_(queue.inside_) {
    for (std::uint32_t who = 0; !try_enter(the_library, who); wait()) {
    }
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;
  ~entry() {
    inside_.store(0, std::memory_order_release);  // R1 pairs with A1
  }

 private:
  static constexpr std::uint32_t nobody = 0, a_program = 1, the_library = 2;

  /// False: `who` is inside.
  bool try_enter(std::uint32_t as, std::uint32_t& who) noexcept {
    who = nobody;
    // A1 pairs with R1: what the one before did to the queues is seen. Relaxed: nothing was done.
    return inside_.compare_exchange_strong(who, as, std::memory_order_acquire,
                                           std::memory_order_relaxed);
  }
  void wait() const noexcept {
    // Relaxed: try_enter() decides.
    for (unsigned tries = 0; inside_.load(std::memory_order_relaxed) != 0; ++tries) {
      if (tries >= 100) sched_yield();
    }
  }
  [[noreturn]] static void raise_exception(const vcq& by) noexcept {
    host::say(
        "TOQ Direct Descriptor Exception: two threads use the CQ of VCQ %#lx, which is not "
        "THREAD_SAFE",
        by.id);
    std::abort();
  }

  std::atomic<std::uint32_t>& inside_;
};

}  // namespace tofu
