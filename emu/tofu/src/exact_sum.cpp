// SPDX-License-Identifier: BSD-3-Clause
// exact_sum.cpp - see exact_sum.h.
#include "exact_sum.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tofu {

namespace {

constexpr std::uint8_t plus_infinity = 1, minus_infinity = 2, not_a_number = 4;

/// a + b + carry, leaving the carry.
std::uint64_t add_with_carry(std::uint64_t a, std::uint64_t b, std::uint64_t& carry) noexcept {
  const std::uint64_t with = b + carry;
  const std::uint64_t sum = a + with;
  carry = (with < b || sum < a) ? 1 : 0;
  return sum;
}

}  // namespace

void exact_sum::add(double x) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = static_cast<unsigned>(bits >> 52 & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  const bool negative = (bits >> 63) != 0;
  if (exponent == 0x7ff) {
    const std::uint8_t infinity = negative ? minus_infinity : plus_infinity;
    specials_ |= mantissa != 0 ? not_a_number : infinity;
    return;
  }
  if (exponent != 0) mantissa |= std::uint64_t{1} << 52;  // else it is subnormal
  add_at(mantissa, exponent == 0 ? 0 : exponent - 1, negative);
}

void exact_sum::add_at(std::uint64_t mantissa, unsigned bit, bool negative) noexcept {
  const unsigned word = bit / 64, shift = bit % 64;
  const std::uint64_t low = mantissa << shift;
  const std::uint64_t high = shift == 0 ? 0 : mantissa >> (64 - shift);
  const std::uint64_t flip = negative ? ~std::uint64_t{0} : 0;  // -n is ~n + 1
  std::uint64_t carry = negative ? 1 : 0;
  for (unsigned i = 0; i < words; ++i) {
    const std::uint64_t part = i == word ? low : i == word + 1 ? high : 0;
    digits_[i] = add_with_carry(digits_[i], part ^ flip, carry);
  }
}

void exact_sum::add(const exact_sum& other) noexcept {
  std::uint64_t carry = 0;
  for (unsigned i = 0; i < words; ++i) {
    digits_[i] = add_with_carry(digits_[i], other.digits_[i], carry);
  }
  specials_ |= other.specials_;
}

double exact_sum::value() const noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if ((specials_ & not_a_number) != 0 || (specials_ & 3) == 3) return std::nan("");
  if (specials_ != 0) return (specials_ & plus_infinity) != 0 ? infinity : -infinity;
  const bool negative = digits_[words - 1] >> 63 != 0;
  std::array<std::uint64_t, words> magnitude = digits_;
  std::uint64_t carry = negative ? 1 : 0;
  for (std::uint64_t& digit : magnitude) {
    digit = add_with_carry(negative ? ~digit : digit, 0, carry);
  }
  unsigned top = words;  // one above the highest word that is not zero
  while (top > 0 && magnitude[top - 1] == 0) --top;
  if (top == 0) return 0.0;
  // The highest 64 bits, the lowest of which also stands for all that is below.
  const auto zeros = static_cast<unsigned>(std::countl_zero(magnitude[top - 1]));
  std::uint64_t head = magnitude[top - 1] << zeros;
  bool rest = false;
  if (top > 1) {
    if (zeros != 0) head |= magnitude[top - 2] >> (64 - zeros);
    rest = zeros == 0 ? magnitude[top - 2] != 0 : (magnitude[top - 2] << zeros) != 0;
    for (unsigned i = 0; i + 2 < top; ++i) rest = rest || magnitude[i] != 0;
  }
  head |= rest ? 1 : 0;
  const int exponent = static_cast<int>(64 * (top - 1)) - static_cast<int>(zeros) - 1074;
  // Converting rounds once; a subnormal sum is exact already, as no bit lies below 2^-1074.
  const double value = std::ldexp(static_cast<double>(head), exponent);
  return negative ? -value : value;
}

}  // namespace tofu
