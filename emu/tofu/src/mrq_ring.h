// SPDX-License-Identifier: BSD-3-Clause
// mrq_ring.h - the message receive queue of a CQ: a ring in shared memory that processes and
// threads push into and the CQ's owner takes from.
//
// Each slot has a turn word {lap, state}: free, claimed by a process, or full. A pusher claims the
// first free slot of its lap with one exchange of that slot's turn, so a claim names its claimant
// from its first instant, and the owner can pass over the slot of one that died before it
// published. `tail` is only a hint where to begin looking. It never lies beyond the first free
// slot: a pusher sets it behind the slot it claimed, and it claimed that one because all before it
// were taken. A hint from a slow pusher may lie behind; then the next one looks at a few taken
// slots more.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

namespace tofu {

/// What one entry says. `shown` tells the owner's library whether to show it to the program.
struct mrq_message {
  std::uint64_t vcq_id = 0;
  std::uint64_t lcl_stadd = 0;
  std::uint64_t rmt_stadd = 0;
  std::uint64_t rmt_value = 0;
  std::uint64_t moment = 0;  ///< on virtual clocks, see timing.h
  std::int16_t error = 0;    ///< utofu_return_code
  std::uint8_t type = 0;     ///< utofu_mrq_notice_type
  std::uint8_t edata = 0;
  std::uint8_t cmp = 0;  ///< of the owner's VCQ it is for
  bool shown = false;
};

struct alignas(64) mrq_slot {
  std::atomic<std::uint64_t> turn;
  mrq_message message;
};
static_assert(sizeof(mrq_slot) == 64);

/// The words all pushers share. Zero-filled memory, these and the slots, is an empty ring.
struct alignas(64) mrq_control {
  std::atomic<std::uint64_t> tail;
};

namespace turn {
inline constexpr std::uint32_t full = 0xffff'ffff;  // not a process stamp
constexpr std::uint64_t of(std::uint64_t lap, std::uint32_t state) noexcept {
  return lap << 32 | state;
}
}  // namespace turn

/// A process's way to push into a ring.
class mrq_producer {
 public:
  mrq_producer() = default;
  /// `slots`: a power of two. `stamp` names this process.
  mrq_producer(mrq_control& control, mrq_slot* ring, std::uint64_t slots,
               std::uint32_t stamp) noexcept
      : control_(&control),
        ring_(ring),
        mask_(slots - 1),
        lap_shift_(static_cast<unsigned>(std::countr_zero(slots))),
        stamp_(stamp) {}

  /// Any thread. False: the ring is full, nothing changed.
  [[nodiscard]] bool try_push(const mrq_message& message) noexcept {
    mrq_slot* const slot = claim();
    if (slot == nullptr) return false;
    slot->message = message;
    publish(*slot);
    return true;
  }
  /// The same for an entry nobody will be shown.
  [[nodiscard]] bool try_push_hidden() noexcept {
    mrq_slot* const slot = claim();
    if (slot == nullptr) return false;
    slot->message.shown = false;
    publish(*slot);
    return true;
  }

 private:
  mrq_slot* claim() noexcept {
    // Relaxed: a hint.
    for (std::uint64_t p = control_->tail.load(std::memory_order_relaxed);; ++p) {
      mrq_slot& slot = ring_[p & mask_];
      const std::uint64_t lap = p >> lap_shift_;
      std::uint64_t seen = slot.turn.load(std::memory_order_relaxed);  // the exchange checks it
      if (seen == turn::of(lap, 0) &&
          slot.turn.compare_exchange_strong(seen, turn::of(lap, stamp_),
                                            std::memory_order_acquire,  // A2 pairs with R2
                                            std::memory_order_relaxed)) {
        control_->tail.store(p + 1, std::memory_order_relaxed);  // a hint
        return &slot;
      }
      if (seen >> 32 < lap) return nullptr;  // last lap's entry is still there
    }
  }
  void publish(mrq_slot& slot) noexcept {
    const std::uint64_t lap = slot.turn.load(std::memory_order_relaxed) >> 32;  // our own claim
    slot.turn.store(turn::of(lap, turn::full), std::memory_order_release);      // R1 pairs with A1
  }

  mrq_control* control_ = nullptr;
  mrq_slot* ring_ = nullptr;
  std::uint64_t mask_ = 0;
  unsigned lap_shift_ = 0;
  std::uint32_t stamp_ = 0;
};

/// The owner's side, one thread at a time.
class mrq_consumer {
 public:
  mrq_consumer() = default;
  mrq_consumer(mrq_slot* ring, std::uint64_t slots) noexcept
      : ring_(ring), mask_(slots - 1), lap_shift_(static_cast<unsigned>(std::countr_zero(slots))) {}

  /// The oldest entry, in place; nullptr: none, or it is still being written. `alive` is asked
  /// about the claimant of an unfinished one: a dead one's is passed over.
  template <class Alive>
  [[nodiscard]] const mrq_message* peek(const Alive& alive) noexcept {
    for (;; ++head_) {
      mrq_slot& slot = ring_[head_ & mask_];
      const std::uint64_t lap = head_ >> lap_shift_;
      const std::uint64_t seen = slot.turn.load(std::memory_order_acquire);  // A1 pairs with R1
      if (seen == turn::of(lap, turn::full)) return &slot.message;
      const auto claimant = static_cast<std::uint32_t>(seen);
      if (claimant == 0 || alive(claimant)) return nullptr;
      // It may have published between our look and its death.
      if (slot.turn.load(std::memory_order_acquire) != seen) return &slot.message;  // A1
      slot.turn.store(turn::of(lap + 1, 0), std::memory_order_release);             // R2
    }
  }
  /// Frees what peek() showed.
  void pop() noexcept {
    const std::uint64_t lap = head_ >> lap_shift_;
    ring_[head_ & mask_].turn.store(turn::of(lap + 1, 0), std::memory_order_release);  // R2 to A2
    ++head_;
  }
  /// Calls `f` with every complete entry, oldest first, and leaves them there.
  template <class F>
  void for_each(const F& f) const noexcept {
    for (std::uint64_t p = head_;; ++p) {
      const mrq_slot& slot = ring_[p & mask_];
      const std::uint64_t full = turn::of(p >> lap_shift_, turn::full);
      if (slot.turn.load(std::memory_order_acquire) != full) return;  // A1 pairs with R1
      f(slot.message);
    }
  }

 private:
  mrq_slot* ring_ = nullptr;
  std::uint64_t mask_ = 0;
  unsigned lap_shift_ = 0;
  std::uint64_t head_ = 0;
};

}  // namespace tofu
