// SPDX-License-Identifier: BSD-3-Clause
// pending.h - what this lane has under way to one VCQ of a peer, and how a notice finds it.
//
// A notice names the other VCQ, the kind of operation, and 8 bits we chose. Operations of one kind
// between two VCQs end in the order they were posted (emu/tofu/conformance/notices.cpp), so those
// bits are the low end of a position: any count of operations may be under way, where the published
// design had to flush after 200. Should notices overtake each other by less than 128, each still
// finds its own.
#pragma once
#include <utofu.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/utofu/shared_memory.h"
#include "transport/op.h"

namespace heddle::transport::utofu {

struct peer_state;

/// What the end of an operation means.
enum class ending : std::uint8_t {
  none,
  // of an op
  told,      ///< nothing but to tell
  fetched,   ///< an atomic: the notice has the old value
  copied,    ///< a get: its data lies in a slot
  freed,     ///< a put: its slot is free
  unpinned,  ///< its memory is no longer in use
  piece,     ///< one piece of it
  // of one of the lane's own, for a peer
  ticket,
  backlog,
  request,
  answer,
  entry,
  probe
};

/// An operation under way: whose, and what its end means. One word.
class pending {
 public:
  pending() = default;
  pending(op& of, ending how) : word_(reinterpret_cast<std::uintptr_t>(&of) | as_bits(how)) {}
  pending(peer_state& of, ending how)
      : word_(reinterpret_cast<std::uintptr_t>(&of) | as_bits(how)) {}
  [[nodiscard]] explicit operator bool() const noexcept { return word_ != 0; }
  [[nodiscard]] ending how() const noexcept { return static_cast<ending>(word_ & mask); }
  [[nodiscard]] bool is_op() const noexcept { return how() < ending::ticket; }
  [[nodiscard]] op& operation() const noexcept {
    return *reinterpret_cast<op*>(word_ & ~mask);  // NOLINT: the constructor's
  }
  /// Of one of the lane's own.
  [[nodiscard]] peer_state& peer() const noexcept {
    return *reinterpret_cast<peer_state*>(word_ & ~mask);  // NOLINT: the constructor's
  }
  friend bool operator==(const pending&, const pending&) = default;

 private:
  static constexpr std::uintptr_t mask = 15;
  static_assert(alignof(op) > mask && static_cast<std::uintptr_t>(ending::probe) <= mask);
  static constexpr std::uintptr_t as_bits(ending how) { return static_cast<std::uintptr_t>(how); }
  std::uintptr_t word_ = 0;
};

/// What is under way, oldest first, each known by its position modulo edata_numbers.
class pending_queue {
 public:
  pending_queue() : cells_(std::make_unique<pending[]>(mask_ + 1)) {}
  /// Of the next one.
  [[nodiscard]] std::uint64_t position() const noexcept { return tail_; }
  /// Makes room for a push. Throws std::bad_alloc.
  void reserve() {
    if (tail_ - head_ > mask_) [[unlikely]]
      grow();
  }
  void push(const pending& p) noexcept { cells_[tail_++ & mask_] = p; }
  /// Takes back the youngest, which was not posted after all.
  pending unpush() noexcept { return cells_[--tail_ & mask_]; }
  /// The oldest with this number, which leaves the queue; or nothing.
  [[nodiscard]] pending take(std::uint64_t edata) noexcept {
    if (edata != head_ % edata_numbers || empty()) [[unlikely]]
      return edata < edata_numbers ? take_at(head_ + (edata - head_) % edata_numbers) : pending();
    return take_oldest();
  }
  /// The one at this position, which leaves the queue; or nothing.
  [[nodiscard]] pending take_at(std::uint64_t position) noexcept;
  /// The oldest of all, which leaves the queue, and is there.
  [[nodiscard]] pending take_oldest() noexcept {
    const pending found = cells_[head_++ & mask_];
    if (taken_early_ != 0) [[unlikely]]
      drop_taken();
    return found;
  }
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }

 private:
  [[gnu::noinline]] void grow();
  [[gnu::noinline]] void drop_taken() noexcept;

  std::uint64_t head_ = 0, tail_ = 0, mask_ = 15;
  std::uint64_t taken_early_ = 0;  // empty cells, none of which is the oldest
  std::unique_ptr<pending[]> cells_;
};

/// Which operations' notices count together.
enum class queue_name : std::uint8_t { puts, gets, atomics };
inline constexpr std::size_t queue_names = 3;

/// A VCQ of a peer, as this lane uses it.
struct remote_vcq {
  utofu_vcq_id_t id = 0;           ///< as notices show it
  utofu_vcq_id_t with_path = 0;    ///< as it is posted to
  peer_state* messages = nullptr;  ///< with which lane messages are exchanged over it; null: none
  std::size_t index = 0;           ///< in its vcq_table, from 1
  std::array<pending_queue, queue_names> queues;

  [[nodiscard]] pending_queue& queue(queue_name n) noexcept {
    return queues[static_cast<std::size_t>(n)];
  }
};

/// All VCQs that this lane posts to, by the id that notices show. Open addressing, at most half
/// full.
class vcq_table {
 public:
  vcq_table() : cells_(16) { nobody_.id = ~utofu_vcq_id_t{0}; }
  /// The same for the same id. Throws std::bad_alloc.
  remote_vcq& add(utofu_vcq_id_t id, utofu_vcq_id_t with_path);
  [[nodiscard]] remote_vcq* find(utofu_vcq_id_t id) noexcept {
    if (last_->id == id) [[likely]]
      return last_;
    remote_vcq* const found = cell_of(id);
    if (found != nullptr) last_ = found;
    return found;
  }
  /// nullptr: there is none with this index.
  [[nodiscard]] remote_vcq* at(std::size_t index) noexcept {
    return index - 1 < all_.size() ? all_[index - 1].get() : nullptr;
  }

 private:
  [[nodiscard]] remote_vcq*& cell_of(utofu_vcq_id_t id) noexcept {
    std::size_t i = static_cast<std::size_t>(id * 0x9e37'79b9'7f4a'7c15u >> 32);
    for (;; ++i) {
      remote_vcq*& cell = cells_[i & (cells_.size() - 1)];
      if (cell == nullptr || cell->id == id) return cell;
    }
  }

  remote_vcq nobody_;
  remote_vcq* last_ = &nobody_;
  std::vector<remote_vcq*> cells_;
  std::vector<std::unique_ptr<remote_vcq>> all_;
};

}  // namespace heddle::transport::utofu
