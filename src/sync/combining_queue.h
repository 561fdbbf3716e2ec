// SPDX-License-Identifier: BSD-3-Clause
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
// A lane whose executor does everything needs less: there a producer only hand_in()s, and the
// executor lets go by release_empty(), which fails as long as anything is claimed. So the bit that
// the claim saw says whether the executor is awake and will come by; if not, it is to be woken. An
// executor that is awake looks at the next cell (next_is_there(), take_row()), and at the word now
// and then only, for what lies behind a hole: so the word stays in the producers' cache.
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
#include "sync/relaxed.h"

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
    // Relaxed, all: published with the queue itself.
    head_.store(first, std::memory_order_relaxed);
    known_head_.store(first, std::memory_order_relaxed);
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
  /// The same, but only while nothing is queued nor claimed: the one exchange tells both.
  [[nodiscard]] bool try_hold_free() noexcept {
    // Relaxed: a guess, which leaves the word's line to others while somebody holds, and the
    // head's, which the holder writes.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    if ((seen & held_bit) != 0) return false;
    // Relaxed: a head that is behind is not what the exchange finds, for no ticket comes twice.
    if (head_.load(std::memory_order_relaxed) << 1 != seen) return false;
    // Acquire: what the holder before did is visible (pairs with P1 and Q3). It publishes nothing
    // that somebody looks for behind it, as push() does, so it has no part in Q1 to Q4.
    if (!word_.compare_exchange_strong(seen, seen | held_bit, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      return false;
    holds::took();
    return true;
  }
  enum class pushed : std::uint8_t {
    queued,  ///< a holder takes it
    held,    ///< it is queued, and the caller holds now: it must drain() and release()
    full,    ///< nothing changed
  };
  [[nodiscard]] pushed push(const T& value) noexcept {
    std::uint64_t seen = 0;
    if (!claim(seen)) return pushed::full;
    publish(seen >> 1, value, std::memory_order_seq_cst);  // Q1
    return try_hold() ? pushed::held : pushed::queued;     // Q2
  }
  enum class left : std::uint8_t {
    queued,      ///< a holder takes it
    unattended,  ///< it is queued, and nobody held: tell somebody
    full,        ///< nothing changed
  };
  /// As push, but the caller never holds.
  [[nodiscard]] left leave(const T& value) noexcept {
    std::uint64_t seen = 0;
    if (!claim(seen)) return left::full;
    publish(seen >> 1, value, std::memory_order_seq_cst);                          // Q1
    return (word_.load(std::memory_order_seq_cst) & held_bit) != 0 ? left::queued  // Q2
                                                                   : left::unattended;
  }
  /// As leave, where every holder lets go by release_empty(), or looks at pending() after let_go():
  /// one exchange, and then stores that nobody waits for.
  [[nodiscard]] left hand_in(const T& value) noexcept {
    std::uint64_t seen = 0;
    if (!claim(seen)) return left::full;
    publish(seen >> 1, value, std::memory_order_release);
    return (seen & held_bit) != 0 ? left::queued : left::unattended;
  }
  /// A look, for hints.
  [[nodiscard]] bool held() const noexcept {
    return (word_.load(std::memory_order_relaxed) & held_bit) != 0;  // relaxed: a hint
  }

  /// Something is there to be taken, not only claimed. In one sequential order with what push()
  /// and leave() do.
  [[nodiscard]] bool ready() const noexcept {
    // The head first: a ticket that is read before it may be behind it.
    const std::uint64_t head = head_.load(std::memory_order_acquire);  // pairs with H1
    return any_published(head, word_.load(std::memory_order_seq_cst) >> 1);
  }

  // --- the holder ------------------------------------------------------------------------
  /// Who holds may say so here, for others a hint.
  [[nodiscard]] relaxed<const void*>& holder() noexcept { return holder_; }
  /// Something is queued or claimed. Anybody may ask; for others than the holder it is a hint.
  [[nodiscard, gnu::always_inline]] bool pending() const noexcept {
    // T1 pairs with the claim's release. Relaxed: ours.
    return word_.load(std::memory_order_acquire) >> 1 != head_.load(std::memory_order_relaxed);
  }
  /// Gives queued values to `take`, at most `limit`, each producer's in its order. False: at the
  /// limit; there may be more.
  template <class F>
  bool drain(std::size_t limit, F&& take) {
    for (bool found = true; found && pending();) {
      found = false;
      const std::uint64_t end = word_.load(std::memory_order_acquire) >> 1;  // T1
      // Relaxed: ours.
      for (std::uint64_t p = head_.load(std::memory_order_relaxed); p != end; p = next(p)) {
        if (distance(p, end) > ahead) cells_[(p + ahead) & mask_].fetch();
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
  /// The oldest value is there. A look at its cell alone.
  [[nodiscard]] bool next_is_there() const noexcept {
    return published(head_.load(std::memory_order_relaxed));  // relaxed: ours
  }
  /// As drain(), up to the first value that is not there yet. Looks at cells alone.
  template <class F>
  void take_row(std::size_t limit, F&& take) {
    std::uint64_t p = head_.load(std::memory_order_relaxed);  // relaxed: ours
    for (; limit != 0 && published(p); --limit, p = next(p)) {
      cell& c = cells_[p & mask_];
      c.fetch();  // its second line, while the first is read
      cells_[next(p) & mask_].fetch();
      take(std::as_const(c.value));
      // Relaxed: published by H1, without which nobody claims this cell again.
      c.turn.store((p + mask_ + 1) & tickets, std::memory_order_relaxed);
    }
    head_.store(p, std::memory_order_release);  // H1
  }
  /// True: let go. False: there is more to take, and the caller still holds.
  [[nodiscard]] bool release() noexcept { return release_empty() || release_past_claims(); }
  /// True: let go. False: something is queued or claimed, and the caller still holds.
  [[nodiscard]] bool release_empty() noexcept {
    std::uint64_t seen = head_.load(std::memory_order_relaxed) << 1 | held_bit;  // relaxed: ours
    // P1, release: what we did before (saying that we sleep) is visible to the claim after it (P2).
    if (!word_.compare_exchange_strong(seen, seen & ~held_bit, std::memory_order_acq_rel,
                                       std::memory_order_relaxed))
      return false;
    holds::let_go();
    return true;
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
    /// Asks the CPU for its lines, to be written as well.
    void fetch() const noexcept {
      const auto* const at = reinterpret_cast<const std::byte*>(this);
      for (std::size_t line = 0; line < sizeof(cell); line += cache_line) fetch_to_write(at + line);
    }
  };
  static constexpr std::uint64_t held_bit = 1, ticket_step = 2;
  static constexpr std::uint64_t tickets = ~std::uint64_t{0} >> 1;  // positions have 63 bits
  /// Cells that the holder fetches before it comes to them: each was written by another core.
  static constexpr std::int64_t ahead = 4;

  /// release() when positions are claimed: it passes by what is not published yet. Out of line, so
  /// that release() itself is short.
  [[nodiscard, gnu::noinline]] bool release_past_claims() noexcept {
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
  /// Takes the next position. `seen`: the word before. False: full.
  [[nodiscard]] bool claim(std::uint64_t& seen) noexcept {
    seen = word_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    do {
      if (!has_room(seen >> 1)) return false;
      // Release pairs with T1: our earlier values are published before this claim is seen.
      // Acquire, P2 pairs with P1.
    } while (!word_.compare_exchange_weak(seen, seen + ticket_step, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return true;
  }
  /// Signed: a stale ticket may be behind the head, and is then corrected by the failing claim (a
  /// false "full" otherwise). The head is the holder's line, so it is looked at once per lap.
  [[nodiscard]] bool has_room(std::uint64_t position) noexcept {
    const auto fits = [&](std::uint64_t head) {
      return distance(head, position) <= static_cast<std::int64_t>(mask_);
    };
    // Acquire, both: pairs with H1, directly or through who stored it: the cell's last value was
    // read.
    if (fits(known_head_.load(std::memory_order_acquire))) return true;
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    known_head_.store(head, std::memory_order_release);  // an older one may win: only less is known
    return fits(head);
  }
  void publish(std::uint64_t position, const T& value, std::memory_order order) noexcept {
    cell& c = cells_[position & mask_];
    c.value = value;
    c.turn.store(next(position), order);  // at least release, to T2
  }

  static std::uint64_t next(std::uint64_t p) noexcept { return (p + 1) & tickets; }
  static std::int64_t distance(std::uint64_t from, std::uint64_t to) noexcept {
    return static_cast<std::int64_t>((to - from) << 1) >> 1;
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
  relaxed<const void*> holder_;  // beside the word, whose line the holder has just then
  alignas(cache_line) Atomic<std::uint64_t> head_;        // oldest not taken; written by the holder
  alignas(cache_line) Atomic<std::uint64_t> known_head_;  // the head as producers last saw it
};

}  // namespace heddle::sync
