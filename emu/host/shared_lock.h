// SPDX-License-Identifier: BSD-3-Clause
// shared_lock.h - a lock in memory that processes share.
#pragma once
#include <sched.h>

#include <atomic>

#include "host/members.h"

namespace host {

/// A lock that a dead holder does not keep.
struct alignas(64) shared_lock {
  std::atomic<process_stamp> holder;
};

/// Holds a lock word. A holder that died is relieved of it. Not recursive: threads of one process
/// exclude each other as well.
class shared_lock_guard {
 public:
  shared_lock_guard(const machine_head& head, process_stamp me,
                    std::atomic<process_stamp>& holder) noexcept
      : holder_(holder) {
    for (unsigned tries = 0; !try_take(0, me); ++tries) {
      if (tries % 64 != 63) continue;
      const process_stamp other = holder_.load(std::memory_order_relaxed);  // the exchange decides
      if (other != 0 && !is_alive(head, other) && try_take(other, me)) return;
      sched_yield();  // the holder may wait for our core
    }
  }
  shared_lock_guard(const shared_lock_guard&) = delete;
  shared_lock_guard& operator=(const shared_lock_guard&) = delete;
  ~shared_lock_guard() {
    holder_.store(0, std::memory_order_release);  // R1 pairs with A1
  }

 private:
  bool try_take(process_stamp from, process_stamp me) noexcept {
    // A1 pairs with R1. A failed exchange says nothing, so relaxed.
    return holder_.compare_exchange_strong(from, me, std::memory_order_acquire,
                                           std::memory_order_relaxed);
  }

  std::atomic<process_stamp>& holder_;
};

}  // namespace host
