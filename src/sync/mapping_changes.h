// SPDX-License-Identifier: BSD-3-Clause
// mapping_changes.h - by which caches of mappings and those who notice changes come to agree.
//
// Two questions, each answered by a load.
//
// "May what is cached be trusted?" The kernel tells one thread, the reader, of changes, and lets
// the thread that made a change go on as soon as the reader has taken the news. So the reader says
// that it is behind before it takes any, and that it has caught up when everything cached that is
// concerned has been ended. Whoever's change was taken, and whoever has heard of that, sees it
// behind (S1 to S2, through the kernel's locks), or caught up and what was ended ended (C1 to C2).
//
// "Was this memory changed while it was being cached?" Who is about to end entries says so and of
// which memory (begin), looks at all entries that are published, and says when it is over (end).
// Who makes an entry takes the number of changes, makes it, publishes it and looks whether changes
// have begun since. Begin, publish and the two looks are sequentially consistent: either the one
// who ends sees the entry, or the one who made it sees the change.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sync/cache_line.h"

namespace heddle::sync {

/// `Atomic` is std::atomic; tests/model puts in one that stops at each access.
template <template <class> class Atomic = std::atomic>
class mapping_changes {
 public:
  // --- the reader: one thread ------------------------------------------------------------
  void fall_behind() noexcept {
    // S1 pairs with S2. Relaxed: the system call that takes the news follows, and the kernel's
    // locks order it before the return of the call that made the change.
    behind_.store(1, std::memory_order_relaxed);
  }
  void catch_up() noexcept { behind_.store(0, std::memory_order_release); }  // C1 pairs with C2

  // --- whoever ends entries: any thread --------------------------------------------------
  void begin(std::uintptr_t from, std::uintptr_t to) noexcept {
    const std::uint64_t number = changes_.fetch_add(one + 1, std::memory_order_seq_cst) >> shift;
    note& n = notes_[number % remembered];
    // A seqlock: who reads a word of ours reads with acquire, and then finds the number gone (N1)
    // or ours. Relaxed: N2 and N3 order it before them.
    n.number.store(0, std::memory_order_relaxed);
    n.from.store(from, std::memory_order_release);          // N2 pairs with N5
    n.to.store(to, std::memory_order_release);              // N3 pairs with N5
    n.number.store(number + 1, std::memory_order_release);  // N4 pairs with N5
  }
  void end() noexcept {
    // Release pairs with the look in number(): what was ended is ended for who finds it quiet.
    changes_.fetch_sub(1, std::memory_order_release);
  }

  // --- who asks: any thread --------------------------------------------------------------
  [[nodiscard]] bool caught_up() const noexcept {
    return behind_.load(std::memory_order_acquire) == 0;  // C2, S2: pair with C1, S1
  }
  /// To be given to untouched_since().
  [[nodiscard]] std::uint64_t number() const noexcept {
    return changes_.load(std::memory_order_seq_cst);
  }
  /// No change of [from, to) has begun since then, and none of anything was under way. False as
  /// well when too much has changed to tell.
  [[nodiscard]] bool untouched_since(std::uint64_t then, std::uintptr_t from,
                                     std::uintptr_t to) const noexcept {
    if ((then & under_way) != 0) return false;
    const std::uint64_t now = changes_.load(std::memory_order_seq_cst) >> shift;
    if (now - (then >> shift) > remembered) return false;
    for (std::uint64_t number = then >> shift; number != now; ++number)
      if (may_touch(number, from, to)) return false;
    return true;
  }

 private:
  // From the low end: how many are under way (16 bits), how many have begun (48 bits).
  static constexpr int shift = 16;
  static constexpr std::uint64_t one = 1u << shift, under_way = one - 1;
  static constexpr std::size_t remembered = 32;
  struct note {
    Atomic<std::uint64_t> number{0};  // of the change, plus 1; 0: being written
    Atomic<std::uintptr_t> from{0}, to{0};
  };

  [[nodiscard]] bool may_touch(std::uint64_t number, std::uintptr_t from,
                               std::uintptr_t to) const noexcept {
    const note& n = notes_[number % remembered];
    // N5, all three: pair with N2, N3, N4.
    const bool written = n.number.load(std::memory_order_acquire) == number + 1;
    const std::uintptr_t its_from = n.from.load(std::memory_order_acquire);
    const std::uintptr_t its_to = n.to.load(std::memory_order_acquire);
    // Relaxed: N1, ordered after the loads above by their acquire.
    const bool still = n.number.load(std::memory_order_relaxed) == number + 1;
    return !written || !still || (its_from < to && from < its_to);
  }

  alignas(cache_line) Atomic<std::uint32_t> behind_{0};
  alignas(cache_line) Atomic<std::uint64_t> changes_{0};
  std::array<note, remembered> notes_;
};

}  // namespace heddle::sync
