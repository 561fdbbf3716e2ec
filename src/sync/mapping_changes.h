// mapping_changes.h - by which caches of mappings and those who notice changes come to agree.
//
// Two questions are answered by one load each.
//
// "May I trust what is cached?" The kernel tells one thread, the reader, of changes, and lets the
// thread that made the change go on as soon as the reader has taken the news. So the reader says
// that it is behind before it takes any, and says that it has caught up after everything cached
// that is concerned has been ended. Whoever's change was taken, and whoever has heard of that,
// sees it behind (S1 to S2, through the kernel's own locks), or caught up and what was ended ended
// (C1 to C2).
//
// "Did something change while I was making a new entry?" Who is about to end entries says so
// (begin), looks at all that are published, and says when it is over (end). Who makes one takes
// the number of changes, makes it, publishes it and takes the number again. Begin, publish and the
// two looks are sequentially consistent: either the one who ends sees the entry published, or the
// one who makes sees that a change has begun and ends it himself.
#pragma once
#include <atomic>
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

  // --- whoever ends entries --------------------------------------------------------------
  void begin() noexcept { changes_.fetch_add(began + 1, std::memory_order_seq_cst); }
  void end() noexcept {
    // Release pairs with the acquire in number(): a quiet number sees what was ended ended.
    changes_.fetch_sub(1, std::memory_order_release);
  }

  // --- who asks --------------------------------------------------------------------------
  [[nodiscard]] bool caught_up() const noexcept {
    return behind_.load(std::memory_order_acquire) == 0;  // C2, S2: pair with C1, S1
  }
  /// To be given to unchanged_since().
  [[nodiscard]] std::uint64_t number() const noexcept {
    return changes_.load(std::memory_order_seq_cst);
  }
  /// No change has begun since then, nor was one under way.
  [[nodiscard]] bool unchanged_since(std::uint64_t then) const noexcept {
    return (then & under_way) == 0 && changes_.load(std::memory_order_seq_cst) == then;
  }

 private:
  // From the low end: how many are under way (16 bits), how many have begun (48 bits).
  static constexpr std::uint64_t under_way = 0xffff, began = 0x1'0000;

  alignas(cache_line) Atomic<std::uint32_t> behind_{0};
  alignas(cache_line) Atomic<std::uint64_t> changes_{0};
};

}  // namespace heddle::sync
