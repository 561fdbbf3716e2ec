// hold.h - who drives a lane: one thread at a time, nobody waits for it.
#pragma once
#include <atomic>

namespace heddle::sync {

/// A lock that is only ever tried. Release publishes everything the holder did (R1 pairs with A1).
class hold {
 public:
  [[nodiscard]] bool try_acquire() noexcept {
    // Relaxed look first: a failed exchange would take the line away from the holder.
    if (held_.load(std::memory_order_relaxed)) return false;
    return !held_.exchange(true, std::memory_order_acquire);  // A1 pairs with R1
  }
  void release() noexcept { held_.store(false, std::memory_order_release); }  // R1 pairs with A1
  /// A look, for asserts and hints.
  [[nodiscard]] bool held() const noexcept {
    return held_.load(std::memory_order_relaxed);  // relaxed: a hint
  }

 private:
  std::atomic<bool> held_{false};
};

/// Orders this thread's earlier stores before its later loads. Used in pairs, one on each side:
/// submit (publish a command, then look at the hold) against release (free the hold, then look at
/// the commands). With both fences at least one of the two sees what the other wrote.
inline void full_fence() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace heddle::sync
