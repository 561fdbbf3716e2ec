// SPDX-License-Identifier: BSD-3-Clause
// biased_hold.h - a hold that is lent to one thread, which takes it by two plain stores and some
// loads until somebody asks it back.
//
// Who holds it lends it. From then on the borrower says that it is inside and looks whether it is
// still lent; who wants it asks, and then looks whether the borrower is inside. One of the two sees
// the other: a borrower that is outside has lost it to who asks, one that is inside gives it back
// as it leaves. The borrower's side needs no fence, because who asks makes the borrower's core
// execute one (membarrier(2); Dice, Huang and Yang, "Asymmetric Dekker Synchronization", 2001; the
// bias that moves is Russell and Detlefs', "Eliminating Synchronization-Related Atomic Operations
// with Biased Locking and Bulk Rebiasing", OOPSLA 2006).
//
// A borrower that was interrupted on its way in says that it is inside long after the hold is
// another's. So each thread says so in a place of its own.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "sync/asymmetric.h"
#include "sync/cache_line.h"

namespace heddle::sync {

/// Only where enable_asymmetric_here() said true. `Atomic` and `Barriers`: tests/model puts in its
/// own.
struct barriers_here {
  static void light() noexcept { light_barrier(); }
  static void heavy() noexcept { heavy_barrier_here(); }
};

/// `me` and `thread`: as this_thread() says.
template <template <class> class Atomic = std::atomic, class Barriers = barriers_here>
class alignas(cache_line) biased_hold {
 public:
  // --- who holds it ------------------------------------------------------------------------
  /// It is the thread's until somebody asks; the caller may not go on. False: nothing has changed,
  /// as too many threads have borrowed it.
  [[nodiscard]] bool lend(const void* thread) noexcept {
    const std::span known(borrowers_.data() + 1, slot_bits / next_slot);
    const auto its = std::ranges::find_if(known, [=](const borrower& b) {
      const void* const borrows = b.thread.load(std::memory_order_relaxed);  // holders write it
      return borrows == nullptr || borrows == thread;
    });
    if (its == known.end()) return false;
    its->thread.store(thread, std::memory_order_relaxed);  // relaxed: published by L1
    lendings_ += next_lending;
    last_slot_ = (static_cast<std::uint64_t>(its - known.begin()) + 1) * next_slot;
    // L1 pairs with the acquiring loads of who enters and takes it back. Sequentially consistent,
    // so that a look at what was left for the holder can follow.
    lent_.store(lendings_ | last_slot_, std::memory_order_seq_cst);
    return true;
  }
  /// To whoever holds: it is lent, and so the holder is the borrower.
  [[nodiscard]] bool is_lent() const noexcept {
    return lent_.load(std::memory_order_relaxed) != 0;  // relaxed: ours, or asked for
  }
  /// By the borrower, inside: it goes on to hold what is not lent any more.
  void end() noexcept {
    const std::uint64_t lent = lent_.exchange(0, std::memory_order_acq_rel);
    // Release, as in leave(). Who has asked and finds nobody inside finds it taken back, too.
    of(lent & slot_bits).inside.store(false, std::memory_order_release);
  }
  /// Who has borrowed it last, and used it since the last call; null: nobody.
  [[nodiscard]] const void* used_by() noexcept {
    borrower& b = of(last_slot_);
    const bool used = b.used.load(std::memory_order_relaxed);  // relaxed, all: hints, and holders'
    if (used) b.used.store(false, std::memory_order_relaxed);
    return used ? b.thread.load(std::memory_order_relaxed) : nullptr;
  }

  // --- any thread --------------------------------------------------------------------------
  /// True: it is lent to the caller, which is inside.
  [[nodiscard, gnu::always_inline]] bool enter(const void* me) noexcept {
    const std::uint64_t lent = lent_.load(std::memory_order_relaxed);  // a guess
    borrower& b = of(lent & (slot_bits | asked));  // nobody's when it was asked for
    if (b.thread.load(std::memory_order_relaxed) != me) return false;  // relaxed: a guess
    b.inside.store(true, std::memory_order_relaxed);                   // relaxed: ordered by D1
    Barriers::light();                                                 // D1 pairs with D2
    // Acquire pairs with L1: what the lender did is visible.
    if (lent_.load(std::memory_order_acquire) == lent) [[likely]] {
      b.used.store(true, std::memory_order_relaxed);  // relaxed: a hint
      return true;
    }
    b.inside.store(false, std::memory_order_release);
    return false;
  }
  /// By who has entered. False: it was asked for, and the caller holds what is not lent any more.
  [[nodiscard, gnu::always_inline]] bool leave() noexcept {
    const std::uint64_t lent = lent_.load(std::memory_order_relaxed);  // relaxed: ours
    // O1, release: what we did is visible to who takes it back.
    of(lent & slot_bits).inside.store(false, std::memory_order_release);
    Barriers::light();  // D1
    // Relaxed: the exchange checks it.
    if ((lent_.load(std::memory_order_relaxed) & asked) == 0) [[likely]]
      return true;
    return !take(lent | asked);
  }
  /// True: it was lent, and is the caller's, not lent any more. False: it is not lent; or who
  /// borrows it is inside and gives it back, or somebody else takes it back just now.
  [[nodiscard]] bool take_back(const void* me) noexcept {
    // Sequentially consistent: behind what the caller has left for the holder. Acquire: L1.
    const std::uint64_t lent = lent_.load(std::memory_order_seq_cst);
    if (lent == 0) return false;
    const borrower& b = of(lent & slot_bits);
    // Its own, which is outside: nobody is inside.
    if (b.thread.load(std::memory_order_relaxed) == me) return take(lent) || take(lent | asked);
    return ask(lent, b) && take(lent | asked);
  }
  /// Null: to nobody. A look.
  [[nodiscard]] const void* lent_to() const noexcept {
    const std::uint64_t lent = lent_.load(std::memory_order_relaxed);  // relaxed, both: a hint
    return of(lent & slot_bits).thread.load(std::memory_order_relaxed);
  }
  /// A look, for who need not have it.
  [[nodiscard]] bool in_use() const noexcept {
    const std::uint64_t lent = lent_.load(std::memory_order_relaxed);  // relaxed, both: a hint
    return lent != 0 && of(lent & slot_bits).inside.load(std::memory_order_relaxed);
  }

 private:
  struct borrower {
    Atomic<const void*> thread{nullptr};
    Atomic<bool> inside{false}, used{false};
  };
  // lent_: the number of the lending | whether it was asked for | whose place; or 0.
  // A slot is where its place begins, in bytes.
  static constexpr std::uint64_t next_slot = 16, slot_bits = 7 * next_slot, asked = 8 * next_slot,
                                 next_lending = 16 * next_slot;
  borrower& of(std::uint64_t slot) noexcept { return borrowers_[slot / next_slot]; }
  const borrower& of(std::uint64_t slot) const noexcept { return borrowers_[slot / next_slot]; }

  /// True: the borrower is outside and stays there.
  bool ask(std::uint64_t lent, const borrower& b) noexcept {
    if ((lent & asked) != 0) {
      // Relaxed: while it is inside, who has asked first may rely on it, and we on that one.
      if (b.inside.load(std::memory_order_relaxed)) return false;
    } else if (!change(lent, lent | asked)) {
      return false;
    }
    Barriers::heavy();                                 // D2 pairs with D1
    return !b.inside.load(std::memory_order_acquire);  // pairs with O1
  }
  bool take(std::uint64_t lent) noexcept { return change(lent, 0); }
  bool change(std::uint64_t from, std::uint64_t to) noexcept {
    return lent_.compare_exchange_strong(from, to, std::memory_order_seq_cst,
                                         std::memory_order_relaxed);
  }

  Atomic<std::uint64_t> lent_{0};
  std::uint64_t lendings_ = 0, last_slot_ = 0;             // the holder's
  std::array<borrower, 2 * asked / next_slot> borrowers_;  // seven of them: nobody has the others
};

}  // namespace heddle::sync
