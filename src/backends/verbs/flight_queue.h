// SPDX-License-Identifier: BSD-3-Clause
// flight_queue.h - what a stream has under way, oldest first, and how far that is.
//
// A flight is kept until it is known to be over. So when a queue pair has ended because the peer's
// card refused one, what was behind it, which no card has carried out, is issued again over the
// next one, in the same order. Knows no card.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "memory/registration_cache.h"
#include "transport/op.h"

namespace heddle::transport::verbs {

/// What a flight is, and so what its end means.
enum class ending : std::uint8_t {
  mark,     ///< nothing: that it ends says that all before it have, and that the peer lives
  sent,     ///< messages, from a slot
  look,     ///< nothing, but by reading: the peer's memory shows all puts before it
  entry,    ///< an entry of the peer's table has come into a slot
  told,     ///< a put
  copied,   ///< a get, into a slot
  landed,   ///< a get, into the op's own memory
  fetched,  ///< an atomic of the card's
  guessed,  ///< a try of an atomic that the card does not have
};

/// Of 64 bytes, so that a position is found by a shift.
struct alignas(64) flight {
  op* of = nullptr;           ///< null: one of the lane's own
  std::byte* here = nullptr;  ///< its bytes: the op's memory, or the lane's registered memory
  std::uint32_t bytes = 0;
  std::uint32_t key_here = 0;                ///< the card's; 0: it takes the bytes with the request
  std::uint64_t there = 0;                   ///< address at the peer
  std::uint32_t key = 0;                     ///< for it
  memory::registration_cache::lease held{};  ///< on the op's memory
  ending how = ending::mark;
  bool in_slot = false;  ///< `here` is a slot, to be given back
  bool follows = false;  ///< a message that the put before it tells: not to be sent without that
};

class flight_queue {
 public:
  /// Makes room for `depth` flights, a power of two. Throws std::bad_alloc.
  void reserve(std::uint32_t depth) {
    if (cells_ != nullptr) return;
    cells_ = std::make_unique<flight[]>(depth);
    mask_ = depth - 1;
  }
  [[nodiscard]] bool has_room(std::uint32_t count = 1) const noexcept {
    return tail_ - head_ + count <= mask_ + 1;
  }
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] std::uint32_t under_way() const noexcept { return issued_ - head_; }

  /// Adds the newest. Its cell's last one has given back what it held.
  flight& push(flight made = {}) noexcept {
    return *std::construct_at(&cells_[tail_++ & mask_], std::move(made));
  }
  [[nodiscard]] flight& oldest() noexcept { return cells_[head_ & mask_]; }
  /// Drops the oldest. Its cell is good until the next push().
  void pop() noexcept {
    if (issued_ == head_++) ++issued_;
    if (unheard_ == head_ - 1) ++unheard_;
  }
  /// Whether the flight at this position is still there.
  [[nodiscard]] bool holds(std::uint32_t position) const noexcept {
    return position - head_ < issued_ - head_;
  }
  [[nodiscard]] std::uint32_t head() const noexcept { return head_; }

  // Issuing.
  [[nodiscard]] std::uint32_t next() const noexcept { return issued_; }
  [[nodiscard]] flight& at(std::uint32_t position) noexcept { return cells_[position & mask_]; }
  [[nodiscard]] const flight& at(std::uint32_t position) const noexcept {
    return cells_[position & mask_];
  }
  [[nodiscard]] std::uint32_t unissued() const noexcept { return tail_ - issued_; }
  /// So many more were issued, of which the last one tells of its end, or not.
  void issued(std::uint32_t count, bool tells) noexcept {
    issued_ += count;
    joined_ = 0;
    if (tells) unheard_ = issued_;
  }
  /// The newest one, when it is of messages that have not left, and more may join them.
  [[nodiscard]] flight* joinable() noexcept {
    if (unissued() == 0) return nullptr;
    flight& f = at(tail_ - 1);
    return f.how == ending::sent && !f.follows ? &f : nullptr;
  }
  void count_joined() noexcept { ++joined_; }
  /// Operations and messages that have not been issued.
  [[nodiscard]] std::uint32_t gathered() const noexcept { return unissued() + joined_; }

  /// Issued since the last one that tells of its end.
  [[nodiscard]] std::uint32_t unheard() const noexcept { return issued_ - unheard_; }

  /// Issued, and before or at one that tells of its end: a completion for them is to come.
  [[nodiscard]] std::uint32_t awaited() const noexcept { return unheard_ - head_; }

  /// No reading is behind the last put of those to issue.
  [[nodiscard]] bool ends_in_puts() const noexcept {
    for (std::uint32_t p = tail_; p != issued_; --p) {
      const ending how = cells_[(p - 1) & mask_].how;
      if (how == ending::told) return true;
      if (how >= ending::copied || how == ending::look || how == ending::entry) return false;
    }
    return false;
  }

  /// All that is kept is to be issued again. Returns how many are of messages.
  std::uint32_t rewind() noexcept {
    issued_ = unheard_ = head_;
    std::uint32_t messages = 0;
    for (std::uint32_t p = head_; p != tail_; ++p)
      if (at(p).how == ending::sent) ++messages;
    return messages;
  }

 private:
  std::unique_ptr<flight[]> cells_;
  std::uint32_t mask_ = 0;
  // Positions, which wrap.
  std::uint32_t head_ = 0, issued_ = 0, tail_ = 0;
  std::uint32_t unheard_ = 0;  // behind the last one that tells of its end
  std::uint32_t joined_ = 0;   // messages not issued, beside the first of each flight
};

}  // namespace heddle::transport::verbs
