// SPDX-License-Identifier: BSD-3-Clause
// lease_word.h - how many use a thing that can be withdrawn, how often it was used, and whether it
// may be entered: one word.
//
// As pin_count, with two differences. Nobody waits for the users of a withdrawn thing: whoever
// leaves last is told, and clears it away. And before open and after it there may be joinable: not
// given out freely, but who finds it in use, and has the right to ask, may share it.
//
// From the low end: users (24 bits), the state (2 bits), how often it was entered or joined (38
// bits, which overflow into nothing).
#pragma once
#include <atomic>
#include <cstdint>

namespace heddle::sync {

/// `Atomic` is std::atomic; tests/model puts in one that stops at each access.
template <template <class> class Atomic = std::atomic>
class lease_word {
 public:
  // --- any thread ------------------------------------------------------------------------
  /// False: not open. Then nobody has entered, but see leave().
  [[nodiscard]] bool try_enter() noexcept {
    // A1 pairs with R2: who enters sees what was set up before publishing.
    return (word_.fetch_add(entered, std::memory_order_acquire) & open_bit) != 0;
  }
  /// After a try_enter() that said false. True: as leave().
  [[nodiscard]] bool withdraw() noexcept {
    // R1, as in leave(), though there is nothing to release: what it may find is the last user.
    return unused(word_.fetch_sub(entered, std::memory_order_acq_rel) - entered);
  }
  /// True: it was the last one out and nobody can come in. The thing is to be cleared away.
  [[nodiscard]] bool leave() noexcept {
    // R1 pairs with A2: what the user did is over.
    return unused(word_.fetch_sub(1, std::memory_order_acq_rel) - 1);
  }
  /// Lets nobody in from now on. False: it had ended before. Who is inside, or was refused, and
  /// leaves last, is told; if nobody is, it is the caller who sees to its being cleared away.
  bool end() noexcept {
    // Relaxed: clearing away begins with A2, and who is to see it ended hears of it otherwise.
    return (word_.fetch_and(~state_bits, std::memory_order_relaxed) & state_bits) != 0;
  }
  /// May be entered or joined. Sequentially consistent: see mapping_changes. And acquire (A3 pairs
  /// with R2): who sees it live sees what was set up.
  [[nodiscard]] bool is_live() const noexcept {
    return (word_.load(std::memory_order_seq_cst) & state_bits) != 0;
  }

  // --- one thread at a time --------------------------------------------------------------
  /// Joinable, with the caller as its first user. The word was cleared_away() and had ended.
  void publish() noexcept {
    // Added, not stored: somebody may be between try_enter() and withdraw().
    // R2 pairs with A1 and A3. Sequentially consistent: see mapping_changes.
    word_.fetch_add(joinable_bit + 1, std::memory_order_seq_cst);
  }
  /// Joinable becomes open. False: it has ended.
  [[nodiscard]] bool open() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    while ((seen & joinable_bit) != 0) {
      // R2 pairs with A1: who enters now has not met publish().
      if (word_.compare_exchange_weak(seen, (seen & ~joinable_bit) | open_bit,
                                      std::memory_order_release, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  /// True: entered, because somebody was inside and it had not ended.
  [[nodiscard]] bool try_join() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    while ((seen & state_bits) != 0 && (seen & users) != 0) {
      // Acquire, as A1: another thread may have published it.
      if (word_.compare_exchange_weak(seen, seen + entered, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  /// Open becomes joinable. True: nobody is inside, so it is to be cleared away.
  [[nodiscard]] bool supersede() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    while ((seen & open_bit) != 0) {
      // Relaxed: clearing away begins with A2.
      if (word_.compare_exchange_weak(seen, (seen & ~open_bit) | joinable_bit,
                                      std::memory_order_relaxed, std::memory_order_relaxed))
        break;
    }
    return (seen & users) == 0;
  }
  /// Ends it if it is open and nobody is inside. True: it is to be cleared away.
  [[nodiscard]] bool end_unused() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    while ((seen & state_bits) == open_bit && (seen & users) == 0) {
      // Relaxed: clearing away begins with A2.
      if (word_.compare_exchange_weak(seen, seen & ~state_bits, std::memory_order_relaxed,
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  /// Nobody is inside and nobody can come in: all that users did is visible.
  [[nodiscard]] bool cleared_away() const noexcept {
    return unused(word_.load(std::memory_order_acquire));  // A2 pairs with R1
  }
  [[nodiscard]] bool is_open() const noexcept {
    return (word_.load(std::memory_order_relaxed) & open_bit) != 0;  // relaxed: may end at any time
  }
  [[nodiscard]] bool is_used() const noexcept {
    return (word_.load(std::memory_order_relaxed) & users) != 0;  // relaxed: a hint
  }
  /// How often it was entered or joined, in all its lives. Those who were refused count meanwhile.
  [[nodiscard]] std::uint64_t times_entered() const noexcept {
    return word_.load(std::memory_order_relaxed) >> count_shift;  // relaxed: a number for reports
  }

 private:
  static constexpr std::uint64_t users = (1u << 24) - 1;
  static constexpr std::uint64_t open_bit = 1u << 24, joinable_bit = 1u << 25;
  static constexpr std::uint64_t state_bits = open_bit | joinable_bit;
  static constexpr int count_shift = 26;
  static constexpr std::uint64_t entered = (std::uint64_t{1} << count_shift) + 1;

  /// Joinable and empty counts: nobody can come in any more.
  [[nodiscard]] static bool unused(std::uint64_t word) noexcept {
    return (word & open_bit) == 0 && (word & users) == 0;
  }

  Atomic<std::uint64_t> word_{0};
};

}  // namespace heddle::sync
