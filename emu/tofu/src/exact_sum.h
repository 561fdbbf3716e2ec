// SPDX-License-Identifier: BSD-3-Clause
// exact_sum.h - a sum of doubles that does not depend on their order, as BFPSUM promises.
//
// A fixed-point number so wide that every double fits: nothing is rounded until value() is asked.
#pragma once
#include <array>
#include <cstdint>

namespace tofu {

/// Zero-filled memory is the sum of nothing.
class exact_sum {
 public:
  void add(double x) noexcept;
  void add(const exact_sum& other) noexcept;
  /// Rounded to nearest, ties to even.
  [[nodiscard]] double value() const noexcept;

 private:
  // Bit 0 stands for 2^-1074, the smallest double; the rest of the last word is for carries.
  static constexpr unsigned words = 34;
  void add_at(std::uint64_t mantissa, unsigned bit, bool negative) noexcept;

  std::array<std::uint64_t, words> digits_;  // two's complement, lowest word first
  std::uint8_t specials_;                    // those seen: +inf 1, -inf 2, NaN 4
};

}  // namespace tofu
