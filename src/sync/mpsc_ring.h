// mpsc_ring.h - bounded queue: any number of producers, one consumer at a time.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "sync/cache_line.h"

namespace heddle::sync {

/// Full is an answer, not an error. Consumers may change as long as something else (a hold) orders
/// them; the queue itself lets in one at a time.
///
/// Cell i serves position p when p % capacity == i. Its turn says who moves next:
///   turn == p             a producer may fill it for p
///   turn == p + 1         the consumer may take p
///   turn == p + capacity  free again, one lap later
/// Two pairs carry all ordering; tail_ carries none:
///   R1 -> A2  the value is complete before the consumer sees turn p + 1
///   R2 -> A1  the consumer has read the value before a producer refills the cell
/// A producer stopped between its claim and R1 hides later values, so nothing slow happens there.
/// Why full is compared signed: docs/design/lane.md, "spurious full".
template <class T>
class mpsc_ring {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `capacity`: a power of two, at least 2 (with 1, taken and free look alike). `first` is where
  /// the positions start: tests start near the wrap.
  explicit mpsc_ring(std::size_t capacity, std::uint64_t first = 0)
      : mask_(capacity - 1),
        cells_(std::make_unique<cell[]>(capacity)),
        tail_(first),
        head_(first) {
    for (std::uint64_t p = first; p != first + capacity; ++p) {
      // Relaxed: whatever hands the ring to other threads publishes it.
      cells_[p & mask_].turn.store(p, std::memory_order_relaxed);
    }
  }

  /// Any thread. False: full, nothing changed.
  [[nodiscard]] bool try_push(const T& value) noexcept {
    std::uint64_t p = tail_.load(std::memory_order_relaxed);  // a guess; the claim checks it
    for (;;) {
      cell& c = cells_[p & mask_];
      const std::uint64_t turn = c.turn.load(std::memory_order_acquire);  // A1 pairs with R2
      const auto lead = static_cast<std::int64_t>(turn - p);
      if (lead < 0) return false;  // last lap's value is still there
      if (lead > 0) {              // someone else took p
        p = tail_.load(std::memory_order_relaxed);
        continue;
      }
      // Relaxed: the claim only has to be unique. What it protects is published by R1.
      if (tail_.compare_exchange_weak(p, p + 1, std::memory_order_relaxed)) {
        c.value = value;
        c.turn.store(p + 1, std::memory_order_release);  // R1 pairs with A2
        return true;
      }
    }
  }

  /// The consumer. Null: nothing ready. Otherwise the oldest value, until pop().
  [[nodiscard]] const T* front() const noexcept {
    // Relaxed: only the consumer writes head_.
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const cell& c = cells_[head & mask_];
    return c.turn.load(std::memory_order_acquire) == head + 1 ? &c.value : nullptr;  // A2, R1
  }
  /// The consumer, after front() gave a value.
  void pop() noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);  // relaxed: as in front()
    cells_[head & mask_].turn.store(head + mask_ + 1, std::memory_order_release);  // R2 pairs A1
    head_.store(head + 1, std::memory_order_relaxed);  // relaxed: for ready(), which is a look
  }
  /// The consumer: nothing is queued, nor claimed by a producer that has yet to publish it. A
  /// thread sees its own claims at least, so what it queued is never overtaken by what it does
  /// next.
  [[nodiscard]] bool empty() const noexcept {
    // Relaxed: a thread's own claims are ordered before by itself; others' need no order.
    return head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_relaxed);
  }
  /// Any thread: a value was ready when it looked. For the check after a release (full_fence()).
  [[nodiscard]] bool ready() const noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    return cells_[head & mask_].turn.load(std::memory_order_relaxed) == head + 1;
  }

 private:
  struct alignas(cache_line) cell {
    std::atomic<std::uint64_t> turn;
    T value;
  };
  const std::uint64_t mask_;
  const std::unique_ptr<cell[]> cells_;
  alignas(cache_line) std::atomic<std::uint64_t> tail_;  // producers
  alignas(cache_line) std::atomic<std::uint64_t> head_;  // written by the consumer only
};

}  // namespace heddle::sync
