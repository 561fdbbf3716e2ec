// combining_queue.h - who drives a lane, and what the others want of it, decided by one word.
//
// One thread at a time holds. Whoever finds the hold taken leaves its value in a bounded queue and
// goes on; the holder takes what is queued before it lets go (flat combining). Nobody ever waits
// for another thread's step.
//
// word = ticket << 1 | held. A producer claims position `ticket` by raising it, fills that cell and
// publishes it. Because claim and release change the same word, a release that finds the ticket
// where the holder's head is knows that nothing is queued nor claimed, and needs no second look.
//
// Cell i serves position p when p % capacity == i. Its turn says who moves next:
//   turn == p             a producer may fill it for p
//   turn == p + 1         published: the holder may take p
//   turn == p + capacity  taken: free again, one lap later
// A producer stopped between claim and publication leaves a hole; the holder passes it by, so it
// delays nobody but itself. Each producer's values still come in its order: whoever has claimed a
// position has published all its earlier ones, and a scan sees every cell published before the
// claims it covers (the claim releases, the ticket is read with acquire).
//
// Why nothing is stranded behind a hole: the producer publishes, then looks at the word; the holder
// lets go, then looks at the cells. All four are sequentially consistent, so one of the two sees
// what the other did (tests/model explores it; docs/design/lane.md).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "sync/cache_line.h"
#include "sync/holds.h"

namespace heddle::sync {

/// `Atomic` is std::atomic; tests/model puts in one that stops at each access.
template <class T, template <class> class Atomic = std::atomic>
class combining_queue {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `capacity`: a power of two, at least 2. `first`: where the positions start, below 2^63; tests
  /// start near the wrap.
  explicit combining_queue(std::size_t capacity, std::uint64_t first = 0)
      : mask_(capacity - 1), cells_(std::make_unique<cell[]>(capacity)), word_(first << 1) {
    head_.store(first,
                std::memory_order_relaxed);  // relaxed, both: published with the queue itself
    for (std::uint64_t p = first; p != first + capacity; ++p)
      cells_[p & mask_].turn.store(p & tickets, std::memory_order_relaxed);
  }

  // --- any thread ------------------------------------------------------------------------
  /// True: the caller holds, and must release().
  [[nodiscard]] bool try_hold() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_seq_cst);  // Q2: see push()
    while ((seen & held_bit) == 0) {
      // Q5, and acquire: what the holder before did is visible (pairs with Q3).
      if (word_.compare_exchange_weak(seen, seen | held_bit, std::memory_order_seq_cst)) {
        holds::took();
        return true;
      }
    }
    return false;
  }
  enum class pushed : std::uint8_t {
    queued,  ///< a holder takes it
    held,    ///< it is queued, and the caller holds now: it must drain() and release()
    full,    ///< nothing changed
  };
  [[nodiscard]] pushed push(const T& value) noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // a guess; the claim checks it
    do {
      // Acquire pairs with H1: the cell's last value was read. Signed: a stale ticket may be behind
      // the head, and is then corrected by the failing claim (a false "full" otherwise).
      const std::uint64_t head = head_.load(std::memory_order_acquire);
      if (distance(head, seen >> 1) > static_cast<std::int64_t>(mask_)) return pushed::full;
      // Release pairs with T1: our earlier values are published before this claim is seen.
    } while (!word_.compare_exchange_weak(seen, seen + ticket_step, std::memory_order_release,
                                          std::memory_order_relaxed));
    const std::uint64_t mine = seen >> 1;
    cell& c = cells_[mine & mask_];
    c.value = value;
    c.turn.store(next(mine), std::memory_order_seq_cst);  // Q1; releases to T2
    return try_hold() ? pushed::held : pushed::queued;    // Q2
  }
  /// A look, for hints.
  [[nodiscard]] bool held() const noexcept {
    return (word_.load(std::memory_order_relaxed) & held_bit) != 0;  // relaxed: a hint
  }

  // --- the holder ------------------------------------------------------------------------
  /// Something is queued or claimed.
  [[nodiscard]] bool pending() const noexcept {
    return ticket() != head_.load(std::memory_order_relaxed);  // relaxed: ours
  }
  /// Gives queued values to `take`, at most `limit`, each producer's in its order. False: at the
  /// limit; there may be more.
  template <class F>
  bool drain(std::size_t limit, F&& take) {
    for (bool found = true; found && pending();) {
      found = false;
      const std::uint64_t end = ticket();
      // Relaxed: ours.
      for (std::uint64_t p = head_.load(std::memory_order_relaxed); p != end; p = next(p)) {
        if (!published(p)) continue;
        if (limit-- == 0) {
          pass_taken(end);
          return false;
        }
        cell& c = cells_[p & mask_];
        take(std::as_const(c.value));
        // Relaxed: published by H1, without which nobody claims this cell again.
        c.turn.store((p + mask_ + 1) & tickets, std::memory_order_relaxed);
        found = true;
      }
      pass_taken(end);
    }
    return true;
  }
  /// True: let go. False: there is more to take, and the caller still holds.
  [[nodiscard]] bool release() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    const std::uint64_t head = head_.load(std::memory_order_relaxed);  // relaxed: ours
    do {
      if (any_published(head, seen >> 1)) return false;
      // Q3, and release: what we did is visible to the next holder.
    } while (!word_.compare_exchange_weak(seen, seen & ~held_bit, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    holds::let_go();
    // Nothing claimed: done. Otherwise a producer may have published and seen us hold (Q4).
    return !any_published(head, seen >> 1) || !try_hold();
  }
  /// Lets go whatever is queued: somebody else was told to come and take it.
  void let_go() noexcept {
    word_.fetch_and(~held_bit, std::memory_order_seq_cst);
    holds::let_go();
  }

 private:
  struct alignas(cache_line) cell {
    Atomic<std::uint64_t> turn;
    T value;
  };
  static constexpr std::uint64_t held_bit = 1, ticket_step = 2;
  static constexpr std::uint64_t tickets = ~std::uint64_t{0} >> 1;  // positions have 63 bits

  static std::uint64_t next(std::uint64_t p) noexcept { return (p + 1) & tickets; }
  static std::int64_t distance(std::uint64_t from, std::uint64_t to) noexcept {
    return static_cast<std::int64_t>((to - from) << 1) >> 1;
  }
  [[nodiscard]] std::uint64_t ticket() const noexcept {
    return word_.load(std::memory_order_acquire) >> 1;  // T1 pairs with the claim's release
  }
  [[nodiscard]] bool published(std::uint64_t p) const noexcept {
    // T2 pairs with Q1: the value is complete. As Q4, sequentially consistent.
    return cells_[p & mask_].turn.load(std::memory_order_seq_cst) == next(p);
  }
  /// Reads cells and head_ as another thread would: after a release it is no longer ours.
  [[nodiscard]] bool any_published(std::uint64_t from, std::uint64_t to) const noexcept {
    for (std::uint64_t p = from; p != to; p = next(p))
      if (published(p)) return true;
    return false;
  }
  void pass_taken(std::uint64_t end) noexcept {
    std::uint64_t head = head_.load(std::memory_order_relaxed);  // relaxed, both: ours
    while (head != end && cells_[head & mask_].turn.load(std::memory_order_relaxed) ==
                              ((head + mask_ + 1) & tickets))
      head = next(head);
    head_.store(head, std::memory_order_release);  // H1 pairs with push(): taken, then reused
  }

  const std::uint64_t mask_;
  const std::unique_ptr<cell[]> cells_;
  alignas(cache_line) Atomic<std::uint64_t> word_;
  alignas(cache_line) Atomic<std::uint64_t> head_;  // oldest not taken; written by the holder
};

}  // namespace heddle::sync
