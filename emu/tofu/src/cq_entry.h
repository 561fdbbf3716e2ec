// cq_entry.h - who may be inside a CQ's queue operations.
#pragma once
#include <sched.h>

#include <cstdlib>

#include "cq.h"

namespace tofu {

/// Being inside. A VCQ with THREAD_SAFE waits for its turn; one without, which on the hardware
/// writes its command into the TOQ unprotected, must not meet anybody: that ends the program.
class cq::entry {
 public:
  entry(cq& queue, const vcq& by) noexcept : inside_(queue.inside_) {
    // A1 pairs with R1: what the one before did to the queues is seen.
    while (inside_.exchange(1, std::memory_order_acquire) != 0) {
      if (!by.thread_safe) raise_exception(by);
      wait();
    }
  }
  /// For the library itself, which waits.
  explicit entry(cq& queue) noexcept : inside_(queue.inside_) {
    while (inside_.exchange(1, std::memory_order_acquire) != 0) wait();  // A1
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;
  ~entry() {
    inside_.store(0, std::memory_order_release);  // R1 pairs with A1
  }

 private:
  void wait() const noexcept {
    // Relaxed: the exchange decides.
    for (unsigned tries = 0; inside_.load(std::memory_order_relaxed) != 0; ++tries) {
      if (tries >= 100) sched_yield();
    }
  }
  [[noreturn]] static void raise_exception(const vcq& by) noexcept {
    say("TOQ Direct Descriptor Exception: two threads use the CQ of VCQ %#lx, which is not "
        "THREAD_SAFE",
        by.id);
    std::abort();
  }

  std::atomic<std::uint32_t>& inside_;
};

}  // namespace tofu
