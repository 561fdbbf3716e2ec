// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/time_order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace heddle::linktest {
namespace {

constexpr std::array<int, time_order::looks> shifts{21, 10, 0};
constexpr std::uint32_t digits = 2048;
constexpr std::uint32_t sign = 0x80000000U;

/// In the order of the numbers: the bits of a float are, but for its sign.
std::uint32_t key_of(float time) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(time);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

double number_of(std::uint32_t key) noexcept {
  const float number = std::bit_cast<float>((key & sign) != 0 ? key & ~sign : ~key);
  return static_cast<double>(number);
}

}  // namespace

void time_order::look(float time) {
  if (std::isnan(time)) return;
  if (middle_.front().counts.empty()) begin_round();
  if (round_ == 0) {
    min_ = count_ == 0 ? time : std::min(min_, time);
    max_ = count_ == 0 ? time : std::max(max_, time);
    ++count_;
  }
  const auto round = static_cast<std::size_t>(round_);
  const std::uint32_t key = key_of(time);
  for (search& one : middle_) {
    const bool alike = round == 0 || (key ^ one.found) >> shifts[round - 1] == 0;
    if (alike) ++one.counts[key >> shifts[round] & ((round + 1 < looks ? digits : digits / 2) - 1)];
  }
}

void time_order::begin_round() {
  for (search& one : middle_) one.counts.assign(digits, 0);
}

void time_order::end_round() {
  if (count_ == 0) return;
  if (round_ == 0) {
    middle_[0].smaller = (count_ - 1) / 2;
    middle_[1].smaller = count_ / 2;
  }
  for (search& one : middle_) {
    std::uint32_t digit = 0;
    for (; one.counts[digit] <= one.smaller; ++digit) one.smaller -= one.counts[digit];
    one.found |= digit << shifts[static_cast<std::size_t>(round_)];
  }
  ++round_;
  begin_round();
}

spread time_order::times() const noexcept {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (count_ == 0) return {nan, nan, nan};
  return {static_cast<double>(min_),
          (number_of(middle_[0].found) + number_of(middle_[1].found)) / 2,
          static_cast<double>(max_)};
}

/// The longest time has the least of them.
spread time_order::rates(kernel k, std::uint64_t size_bytes) const noexcept {
  const auto rate = [&](double time) { return bytes_per_second(k, size_bytes, time); };
  const spread of = times();
  if (count_ == 0) return of;
  return {rate(of.max), (rate(number_of(middle_[0].found)) + rate(number_of(middle_[1].found))) / 2,
          rate(of.min)};
}

}  // namespace heddle::linktest
