// SPDX-License-Identifier: BSD-3-Clause
// asymmetric.h - store-then-load ordering between processes, paid by the side that goes to sleep.
//
// A sender publishes work and then looks whether the receiver sleeps; the receiver says that it
// sleeps and then looks for work. One of the two must see the other. Instead of a fence on each
// send, the sleeper makes all running threads of all registered processes execute one (membarrier).
#pragma once
#include <atomic>

namespace heddle::sync {

/// Registers this process with the kernel. False: this kernel cannot; heavy() then does nothing and
/// both sides must meet in read-modify-writes of one word (see sleep_word). Any thread, any number
/// of times.
[[nodiscard]] bool enable_asymmetric() noexcept;

/// The sleeper's side: between its store and its load.
void heavy_barrier() noexcept;

/// The same between threads of this process only, which interrupts no other's. The first call may
/// take milliseconds where the process has several threads.
[[nodiscard]] bool enable_asymmetric_here() noexcept;
void heavy_barrier_here() noexcept;

/// The busy side: between its store and its load. Only keeps the compiler from swapping them.
inline void light_barrier() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // pairs with heavy_barrier()
}

}  // namespace heddle::sync
