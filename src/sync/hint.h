// hint.h - a flag that says "look here": cheap to check, set by any thread.
#pragma once
#include <atomic>

namespace heddle::sync {

class hint {
 public:
  /// Any thread. What it did before is visible to the thread whose take() returns true.
  void raise() noexcept {
    raised_.store(true, std::memory_order_release);  // R1 pairs with A1 in take()
  }
  /// True once per raise (several raises may count as one). One plain load when not raised.
  [[nodiscard]] bool take() noexcept {
    // Relaxed: a miss is seen by the next look; a hit is confirmed by A1.
    if (!raised_.load(std::memory_order_relaxed)) return false;
    return raised_.exchange(false, std::memory_order_acquire);  // A1 pairs with R1
  }
  [[nodiscard]] bool raised() const noexcept {
    return raised_.load(std::memory_order_relaxed);  // relaxed: decides only whether to take()
  }

 private:
  std::atomic<bool> raised_{false};
};

}  // namespace heddle::sync
