// shared_lock.h - a lock in memory that processes share.
#pragma once
#include <sched.h>

#include <atomic>

#include "machine.h"

namespace tofu {

/// Holds a lock word. A holder that died is relieved of it.
class shared_lock_guard {
 public:
  shared_lock_guard(const machine& m, std::atomic<process_stamp>& holder) noexcept
      : holder_(holder) {
    for (unsigned tries = 0; !try_take(m, 0); ++tries) {
      if (tries % 64 != 63) continue;
      const process_stamp other = holder_.load(std::memory_order_relaxed);  // the exchange decides
      if (other != 0 && !m.is_alive(other) && try_take(m, other)) return;
      sched_yield();  // the holder may wait for our core
    }
  }
  shared_lock_guard(const shared_lock_guard&) = delete;
  shared_lock_guard& operator=(const shared_lock_guard&) = delete;
  ~shared_lock_guard() {
    holder_.store(0, std::memory_order_release);  // R1 pairs with A1
  }

 private:
  bool try_take(const machine& m, process_stamp from) noexcept {
    // A1 pairs with R1. A failed exchange says nothing, so relaxed.
    return holder_.compare_exchange_strong(from, m.stamp(), std::memory_order_acquire,
                                           std::memory_order_relaxed);
  }

  std::atomic<process_stamp>& holder_;
};

}  // namespace tofu
