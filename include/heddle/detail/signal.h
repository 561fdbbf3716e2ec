// SPDX-License-Identifier: BSD-3-Clause
// signal.h - a count that finished operations raise and a sleeping thread can wait for.
//
// The one place outside src/sync with atomics: waiting must not cost a call out of line, and a
// direct store must see at once that its target is gone (see direct.h, which uses live_word).
#pragma once
#include <heddle/status.h>

#include <atomic>
#include <cstdint>

namespace heddle::detail {

class signal;

/// Wakes the thread sleeping behind waker `id`, or where that is signal::several all those that
/// sleep on `on`, which may be gone already. A stale id costs one needless wake, nothing else.
void wake(const signal* on, std::uint16_t id) noexcept;

/// Count of ended operations in the upper 48 bits, below it how rarely to wake (3 bits) and the id
/// of a waker (13 bits; 0: nobody sleeps). One word, so that whoever raises it learns whom to wake
/// without touching the object again: the waiter may destroy it the moment the count is right.
///
/// Who sleeps until many operations have ended is not woken by each of them, but when the count
/// passes a multiple of 4^k. There is one at or before what it waits for, and then it looks how
/// many are left: a sleep for n takes about 4 log4 n wakes at most, and mostly one.
class signal {
 public:
  static constexpr int waker_bits = 13;
  /// Stands for the wakers of all threads that sleep on the signal; no waker has it.
  static constexpr std::uint16_t several = (1u << waker_bits) - 1;

  /// Adds `n`. Everything written before is visible to whoever sees the count (R1 pairs with A1).
  void raise(std::uint64_t n = 1) noexcept {
    // R1 pairs with A1 in count(). Acquire as well: several raisers chain into one release
    // sequence.
    const std::uint64_t before = word_.fetch_add(n * one, std::memory_order_acq_rel);
    if ((before & watched) != 0 && passes(before, n))
      wake(this, static_cast<std::uint16_t>(before & waker_mask));
  }
  /// Remembers the first failure, then adds `n`.
  void raise(status code, std::uint64_t n = 1) noexcept {
    if (code != status::done) {
      status none = status::done;
      // Relaxed: published by R1 in raise().
      failure_.compare_exchange_strong(none, code, std::memory_order_relaxed);
    }
    raise(n);
  }
  /// As raise(), of a signal that only the calling thread looks at. False: it is about to sleep on
  /// it, and nothing has changed.
  [[nodiscard]] bool raise_alone() noexcept {
    const std::uint64_t before = word_.load(std::memory_order_relaxed);
    if ((before & watched) != 0) return false;
    word_.store(before + one, std::memory_order_relaxed);  // relaxed, both: no other thread looks
    return true;
  }
  [[nodiscard]] std::uint64_t count() const noexcept {
    return word_.load(std::memory_order_acquire) >> 16;  // A1 pairs with R1
  }
  [[nodiscard]] status first_failure() const noexcept {
    return failure_.load(std::memory_order_relaxed);  // relaxed: read after count() has acquired
  }
  /// Registers the calling thread's waker, beside those of others. It is woken at `target` at the
  /// latest. Returns the count then.
  std::uint64_t watch(std::uint16_t waker, std::uint64_t target) noexcept;
  void unwatch(std::uint16_t waker) noexcept;
  /// Under HEDDLE_CHECKS: so many more operations, or fewer, will raise it.
  void expect(int n) noexcept {
    expected_.fetch_add(static_cast<std::uint32_t>(n),
                        std::memory_order_relaxed);  // relaxed: a sum
  }
  /// An operation that will raise it is in flight; false when nobody looks.
  [[nodiscard]] bool expecting() const noexcept {
    const std::uint32_t n = expected_.load(std::memory_order_relaxed);  // relaxed: the caller's own
    return n != 0 && static_cast<std::int32_t>(n - static_cast<std::uint32_t>(count())) > 0;
  }
  void reset() noexcept {  // relaxed: by contract nobody else touches the object now
    expected_.store(0, std::memory_order_relaxed);
    word_.store(0, std::memory_order_relaxed);
    failure_.store(status::done, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t one = 1u << 16, watched = one - 1;
  static constexpr std::uint16_t waker_mask = several;
  static constexpr int rarest = 7;  // 4^7

  /// How `word` names those that slept and `waker`, which sleeps until `target`.
  static std::uint64_t joined(std::uint64_t word, std::uint16_t waker,
                              std::uint64_t target) noexcept;
  /// Whether `n` more than `before` reach the next count at which to wake.
  static bool passes(std::uint64_t before, std::uint64_t n) noexcept {
    const std::uint64_t shift = 2 * ((before & watched) >> waker_bits);
    const std::uint64_t count = before >> 16;
    return (count + n) >> shift != count >> shift;
  }
  std::atomic<std::uint64_t> word_{0};
  std::atomic<status> failure_{status::done};
  std::atomic<std::uint32_t> expected_{0};  // of the count
};

/// Under HEDDLE_CHECKS: ends the program, because `what` ends or is reset while an operation holds
/// it. Not in the child of a fork, where the operation is the parent's.
[[gnu::cold]] void end_in_flight(const char* what) noexcept;

/// Generation of a region as its owner last set it, seen through shared memory.
class live_word {
 public:
  [[nodiscard]] bool is(std::uint32_t generation) const noexcept {
    return word_.load(std::memory_order_relaxed) == generation;  // relaxed: a hint that goes stale
  }
  void set(std::uint32_t generation) noexcept {
    word_.store(generation, std::memory_order_release);  // pairs with nothing: see is()
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace heddle::detail
