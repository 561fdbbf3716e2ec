// SPDX-License-Identifier: BSD-3-Clause
// chance.h - a small repeatable source of random numbers (splitmix64).
#pragma once
#include <cstdint>

namespace heddle::transport {

class chance {
 public:
  explicit chance(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 to `limit`, both included.
  std::uint64_t up_to(std::uint64_t limit) noexcept { return next() % (limit + 1); }
  /// True in `hundredths` of 100 cases; 0 costs nothing and changes nothing.
  bool percent(unsigned hundredths) noexcept {
    return hundredths != 0 && next() % 100 < hundredths;
  }

 private:
  std::uint64_t state_;
};

}  // namespace heddle::transport
