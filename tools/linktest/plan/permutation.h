// SPDX-License-Identifier: BSD-3-Clause
// permutation.h - a seeded shuffle of 0 to n-1 that needs no table: both ways in O(1) memory.
#pragma once
#include <array>
#include <cstdint>

namespace heddle::linktest {

/// Mixes a 64-bit word well enough for shuffles and test patterns; not for secrets.
[[nodiscard]] std::uint64_t mix(std::uint64_t word) noexcept;

/// A keyed Feistel network on the next even power of two, walked until it lands below n.
/// forward and inverse undo each other; the same seed gives the same shuffle everywhere.
class permutation {
 public:
  /// `items` >= 1.
  permutation(std::uint64_t items, std::uint64_t seed) noexcept;

  [[nodiscard]] std::uint64_t forward(std::uint64_t index) const noexcept;
  [[nodiscard]] std::uint64_t inverse(std::uint64_t index) const noexcept;

 private:
  static constexpr unsigned rounds = 6;
  [[nodiscard]] std::uint64_t scramble(std::uint64_t half, unsigned round) const noexcept;
  [[nodiscard]] std::uint64_t once_forward(std::uint64_t word) const noexcept;
  [[nodiscard]] std::uint64_t once_inverse(std::uint64_t word) const noexcept;

  std::uint64_t items_;
  unsigned half_bits_ = 1;
  std::array<std::uint64_t, rounds> keys_{};
};

}  // namespace heddle::linktest
