// SPDX-License-Identifier: BSD-3-Clause
// message_ring.h - the two ends of a ring of messages: what the sender knows of it, and what the
// receiver does. Positions are in lines since the ring was granted; it has a power of two of lines.
//
// A message is a header and its bytes, in whole lines. What does not fit before the end of the ring
// lies at its beginning, and the sender counts the lines it skipped.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "backends/utofu/shared_memory.h"

namespace heddle::transport::utofu {

/// Header and payload of one message: sixteen lines with ours.
inline constexpr std::size_t max_message_lines = 16;
inline constexpr std::size_t max_message = max_message_lines * line_bytes - sizeof(message_header);

[[nodiscard]] constexpr std::uint32_t lines_of(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + line_bytes - 1) / line_bytes);
}

/// A ring in a peer's memory, which we write to.
class outgoing_ring {
 public:
  /// `polled`: no notice tells of messages there; each carries a stamp.
  void open(utofu_stadd_t at, std::uint32_t lines, bool polled) noexcept {
    at_ = at;
    lines_ = lines;
    polled_ = polled;
  }
  [[nodiscard]] bool is_open() const noexcept { return lines_ != 0; }
  [[nodiscard]] bool polled() const noexcept { return polled_; }
  /// Of the next message, or of the lines that it skips.
  [[nodiscard]] std::uint64_t position() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t under_way() const noexcept { return sent_ - freed_; }

  struct place {
    utofu_stadd_t address = 0;
    std::uint32_t lines = 0;    ///< with those skipped
    std::uint32_t skipped = 0;  ///< before the end of the ring; address: of its beginning
  };
  [[nodiscard]] place next(std::size_t bytes) const noexcept {
    const std::uint32_t lines = lines_of(bytes);
    const auto at = static_cast<std::uint32_t>(sent_ & (lines_ - 1));
    if (at + lines <= lines_) [[likely]]
      return {at_ + std::uint64_t{at} * line_bytes, lines, 0};
    return {at_, lines + lines_ - at, lines_ - at};
  }
  /// Of the next line.
  [[nodiscard]] utofu_stadd_t address() const noexcept {
    return at_ + (sent_ & (lines_ - 1)) * line_bytes;
  }
  [[nodiscard]] bool has_room(std::uint32_t lines) const noexcept {
    return under_way() + lines <= lines_;
  }
  void advance(std::uint32_t lines) noexcept { sent_ += lines; }
  void retreat(std::uint32_t lines) noexcept { sent_ -= lines; }
  /// The receiver has freed lines up to a position with these low bits. Returns how many that is
  /// more; what makes no sense, or is older, changes nothing.
  std::uint64_t free_up_to(std::uint32_t position) noexcept {
    const std::uint32_t more = position - static_cast<std::uint32_t>(freed_);
    if (more > under_way()) return 0;
    freed_ += more;
    return more;
  }
  /// The peer is gone. Returns how many lines were under way.
  std::uint64_t free_all() noexcept {
    const std::uint64_t all = under_way();
    freed_ = sent_;
    return all;
  }

 private:
  utofu_stadd_t at_ = 0;
  std::uint32_t lines_ = 0;
  bool polled_ = false;
  std::uint64_t sent_ = 0, freed_ = 0;
};

struct incoming_message {
  std::span<const std::byte> bytes;
  std::uint32_t credits = 0;  ///< message_header::consumed
  /// The common tag of an array, which a put before it went to; 0: it tells of none.
  std::uint16_t tells_of = 0;
};

/// A ring in our memory, which a peer writes to.
class incoming_ring {
 public:
  /// `nonce`: of the sender, for the stamps of a polled ring.
  void open(std::byte* at, std::uint32_t lines, bool polled, std::uint64_t nonce) noexcept {
    at_ = at;
    lines_ = lines;
    polled_ = polled;
    nonce_ = nonce;
  }
  [[nodiscard]] bool is_open() const noexcept { return at_ != nullptr; }
  [[nodiscard]] bool polled() const noexcept { return polled_; }
  [[nodiscard]] std::uint32_t lines() const noexcept { return lines_; }

  /// The message that a notice told of, `wrapped` to the beginning of the ring. False: nonsense.
  [[nodiscard]] bool take(bool wrapped, incoming_message& out) noexcept;
  /// The next message of a polled ring. False: it is not there.
  [[nodiscard]] bool look(incoming_message& out) noexcept;

  /// Something was taken since release().
  [[nodiscard]] bool holds() const noexcept { return taken_ != released_; }
  /// What was taken is read: its lines are the sender's again, once it is told.
  void release() noexcept { released_ = taken_; }
  [[nodiscard]] const std::uint64_t& released() const noexcept { return released_; }
  [[nodiscard]] std::uint64_t untold() const noexcept { return released_ - told_; }
  /// The sender is told of `position`. Returns of what it was before.
  std::uint64_t tell(std::uint64_t position) noexcept { return std::exchange(told_, position); }

 private:
  std::byte* at_ = nullptr;
  std::uint32_t lines_ = 0;
  bool polled_ = false;
  std::uint64_t nonce_ = 0;
  std::uint64_t taken_ = 0, released_ = 0, told_ = 0;
};

inline bool incoming_ring::take(bool wrapped, incoming_message& out) noexcept {
  std::uint64_t at = taken_ & (lines_ - 1);
  if (wrapped) [[unlikely]] {
    taken_ += lines_ - at;
    at = 0;
  }
  const std::byte* const from = at_ + at * line_bytes;
  message_header head;
  std::memcpy(&head, from, sizeof head);
  const std::uint32_t lines =
      lines_of(polled_ ? stamp_at(head.bytes) + sizeof(stamp_t) : sizeof head + head.bytes);
  if (head.bytes > max_message || at + lines > lines_) return false;
  taken_ += lines;
  const std::uint16_t tells_of = polled_ ? 0 : head.mark;
  out = {{from + sizeof head, head.bytes}, head.consumed, tells_of};
  return true;
}

}  // namespace heddle::transport::utofu
