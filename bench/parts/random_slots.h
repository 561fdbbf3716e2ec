// SPDX-License-Identifier: BSD-3-Clause
// random_slots.h - the sequence of random slots that both the bare limits and Heddle are given.
#pragma once
#include <cstdint>

namespace heddle::bare {

/// Xorshift: about a nanosecond per number, the same numbers for the same seed.
class random_slots {
 public:
  /// `slots` must be a power of two.
  random_slots(std::uint64_t slots, std::uint64_t seed) noexcept
      : mask_(slots - 1), state_(seed * 0x9e3779b97f4a7c15u | 1u) {}
  [[nodiscard]] std::uint64_t next() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ & mask_;
  }

 private:
  std::uint64_t mask_;
  std::uint64_t state_;
};

}  // namespace heddle::bare
