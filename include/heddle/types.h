// SPDX-License-Identifier: BSD-3-Clause
// types.h - the small words every other header uses: ranks, tags, rights.
#pragma once
#include <cstddef>
#include <cstdint>

namespace heddle {

/// A process's number in its world, 0 to world::size() - 1.
using rank = std::int32_t;

/// The lanes of a rank have numbers below this.
inline constexpr int max_lanes = 256;

/// In a destination: the peer's lane of the sender's own number.
inline constexpr int same_lane = -1;

/// One lane of one rank: where a message goes. A plain rank means its lane of the same number as
/// the sender's, so `send(3, ...)` and `send({3, 7}, ...)` differ in the lane only.
struct destination {
  rank to = 0;
  int lane = same_lane;

  constexpr destination() = default;
  constexpr destination(rank r) : to(r) {}  // NOLINT: see above
  constexpr destination(rank r, int number) : to(r), lane(number) {}
};

/// Source of a receive that takes a message from whoever sent it.
inline constexpr rank any_source = -1;

/// A message's tag. The top bit is Heddle's own (collectives): users have 63 bits.
using tag = std::uint64_t;
inline constexpr tag reserved_tag_bit = tag{1} << 63;
inline constexpr tag max_tag = reserved_tag_bit - 1;

/// Which tags a receive or a probe accepts: those that agree with `value` in every bit of `mask`.
struct tag_match {
  tag value = 0;
  tag mask = ~tag{0};

  constexpr tag_match(tag exact) : value(exact) {}  // NOLINT: a plain tag means "exactly this"
  constexpr tag_match(tag v, tag m) : value(v), mask(m) {}
  [[nodiscard]] constexpr bool accepts(tag t) const noexcept { return ((t ^ value) & mask) == 0; }
  [[nodiscard]] constexpr bool exact() const noexcept { return mask == ~tag{0}; }
};

/// Accepts every user tag.
inline constexpr tag_match any_tag{0, reserved_tag_bit};

/// What a peer may do with a region. Combine with `|`.
enum class rights : std::uint8_t { none = 0, read = 1, write = 2, atomic = 4, all = 7 };

constexpr rights operator|(rights a, rights b) noexcept {
  return static_cast<rights>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr rights operator&(rights a, rights b) noexcept {
  return static_cast<rights>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
/// True when `have` contains every right in `wanted`.
constexpr bool allows(rights have, rights wanted) noexcept {
  return (static_cast<unsigned>(have) & static_cast<unsigned>(wanted)) ==
         static_cast<unsigned>(wanted);
}

/// The remote atomics. Each exists fetching and not, on 4 and 8 bytes. On floating numbers add,
/// swap and compare_swap, which compares bits.
enum class atomic_op : std::uint8_t {
  add,
  bit_and,
  bit_or,
  bit_xor,
  swap,
  compare_swap,
  min,
  max,
  // For Heddle itself: what min, max and add are where the type is signed, or floating.
  signed_min,
  signed_max,
  float_add
};
inline constexpr atomic_op last_atomic_op = atomic_op::float_add;

/// Number of an active-message handler; the same number means the same handler on every rank.
using handler_id = std::uint16_t;
inline constexpr handler_id max_handlers = 1024;

/// Largest header an active message carries beside its payload, in bytes.
inline constexpr std::size_t max_call_header = 64;

}  // namespace heddle
