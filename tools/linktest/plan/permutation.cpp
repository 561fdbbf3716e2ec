// SPDX-License-Identifier: BSD-3-Clause
// permutation.cpp - the keyed Feistel network behind permutation.h.
#include "linktest/plan/permutation.h"

namespace heddle::linktest {

std::uint64_t mix(std::uint64_t word) noexcept {
  word += 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

permutation::permutation(std::uint64_t items, std::uint64_t seed) noexcept : items_(items) {
  while (half_bits_ < 32 && (std::uint64_t{1} << (2 * half_bits_)) < items) ++half_bits_;
  for (auto& key : keys_) key = seed = mix(seed);
}

std::uint64_t permutation::scramble(std::uint64_t half, unsigned round) const noexcept {
  return mix(half ^ keys_[round]) & ((std::uint64_t{1} << half_bits_) - 1);
}

std::uint64_t permutation::once_forward(std::uint64_t word) const noexcept {
  std::uint64_t left = word >> half_bits_;
  std::uint64_t right = word & ((std::uint64_t{1} << half_bits_) - 1);
  for (unsigned i = 0; i < rounds; ++i) {
    const std::uint64_t next = left ^ scramble(right, i);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::uint64_t permutation::once_inverse(std::uint64_t word) const noexcept {
  std::uint64_t left = word >> half_bits_;
  std::uint64_t right = word & ((std::uint64_t{1} << half_bits_) - 1);
  for (unsigned i = rounds; i-- > 0;) {
    const std::uint64_t before = right ^ scramble(left, i);
    right = left;
    left = before;
  }
  return left << half_bits_ | right;
}

std::uint64_t permutation::forward(std::uint64_t index) const noexcept {
  // The walk ends: the network permutes a finite set, so its cycle comes back below items_.
  do index = once_forward(index);
  while (index >= items_);
  return index;
}

std::uint64_t permutation::inverse(std::uint64_t index) const noexcept {
  do index = once_inverse(index);
  while (index >= items_);
  return index;
}

}  // namespace heddle::linktest
