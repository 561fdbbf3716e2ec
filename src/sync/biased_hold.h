// SPDX-License-Identifier: BSD-3-Clause
// biased_hold.h - a hold that costs its owner two plain stores and a load, and others a system
// call.
//
// The owner, one thread for ever, says that it is inside and then looks whether a visitor is; a
// visitor says that it is there and then looks whether the owner is inside. One of the two sees the
// other and steps back. The owner's side needs no fence: the visitor makes the owner's core execute
// one (membarrier(2); Dice, Huang and Yang, "Asymmetric Dekker Synchronization", 2001).
#pragma once
#include <atomic>

#include "sync/asymmetric.h"

namespace heddle::sync {

/// Only where enable_asymmetric() said true. `Atomic` and `Barriers`: tests/model puts in its own.
struct membarriers {
  static void light() noexcept { light_barrier(); }
  static void heavy() noexcept { heavy_barrier(); }
};

template <template <class> class Atomic = std::atomic, class Barriers = membarriers>
class biased_hold {
 public:
  /// False: a visitor is inside, or about to leave.
  [[nodiscard]] bool owner_enter() noexcept {
    inside_.store(true, std::memory_order_relaxed);  // relaxed: ordered by the barriers
    Barriers::light();                               // D1 pairs with D2
    // Acquire pairs with V1: what the last visitor did is visible.
    if (!visited_.load(std::memory_order_acquire)) [[likely]]
      return true;
    owner_leave();
    return false;
  }
  void owner_leave() noexcept {
    inside_.store(false, std::memory_order_release);  // O1 pairs with the visitor's look
  }

  /// False: the owner or another visitor is inside.
  [[nodiscard]] bool visitor_enter() noexcept {
    if (visited_.exchange(true, std::memory_order_acq_rel)) return false;  // pairs with V1
    Barriers::heavy();                                                     // D2 pairs with D1
    if (!inside_.load(std::memory_order_acquire)) return true;             // pairs with O1
    visitor_leave();
    return false;
  }
  /// Sequentially consistent, so that a look at what was left for the visitor can follow.
  void visitor_leave() noexcept { visited_.store(false, std::memory_order_seq_cst); }  // V1

 private:
  Atomic<bool> inside_{false}, visited_{false};
};

}  // namespace heddle::sync
