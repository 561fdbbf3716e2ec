// SPDX-License-Identifier: BSD-3-Clause
// words.h - atomics as a card does them: fetch-and-add and compare-and-swap on aligned words of 8
// bytes. All others are tries of the second, on the 8 bytes around the word, until nobody has come
// in between; so every atomic on a word is the card's, and none is the CPU's.
#pragma once
#include <heddle/detail/direct.h>

#include <cstdint>

#include "transport/op.h"

namespace heddle::transport::verbs {

/// What an atomic that the card does not have is tried with: kept in its op until it succeeds.
struct guess {
  std::uint64_t expected = 0;  ///< in the 8 bytes around the word
};

/// Whether the card has it.
[[nodiscard]] constexpr bool is_native(const op& o) noexcept {
  return o.width == 8 && (o.atomic == atomic_op::add || o.atomic == atomic_op::compare_swap);
}

/// The part of the 8 bytes at `address` rounded down that an atomic of this width means.
struct word_place {
  constexpr word_place(std::uint64_t address, unsigned width) noexcept
      : shift(width == 4 ? (address & 4) * 8 : 0), mask(width == 4 ? UINT32_MAX : UINT64_MAX) {}
  [[nodiscard]] constexpr std::uint64_t get(std::uint64_t all) const noexcept {
    return all >> shift & mask;
  }
  [[nodiscard]] constexpr std::uint64_t put(std::uint64_t all, std::uint64_t word) const noexcept {
    return (all & ~(mask << shift)) | (word & mask) << shift;
  }
  std::uint64_t shift, mask;
};

/// What the word is after `o` when it was `old`.
[[nodiscard]] inline std::uint64_t result_of(const op& o, std::uint64_t old,
                                             std::uint64_t mask) noexcept {
  switch (o.atomic) {
    case atomic_op::add:
      return old + o.operand;
    case atomic_op::bit_and:
      return old & o.operand;
    case atomic_op::bit_or:
      return old | o.operand;
    case atomic_op::bit_xor:
      return old ^ o.operand;
    case atomic_op::swap:
      return o.operand;
    case atomic_op::compare_swap:
      return old == (o.compare & mask) ? o.operand : old;
    default:  // of those that CPUs do not have either
      return o.width == 8
                 ? detail::combined<std::uint64_t>(o.atomic, old, o.operand)
                 : detail::combined<std::uint32_t>(o.atomic, static_cast<std::uint32_t>(old),
                                                   static_cast<std::uint32_t>(o.operand));
  }
}

}  // namespace heddle::transport::verbs
