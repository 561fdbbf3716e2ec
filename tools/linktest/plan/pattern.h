// SPDX-License-Identifier: BSD-3-Clause
// pattern.h - test data that tells who sent what to whom, so that a mix-up cannot pass as right.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::linktest {

/// What the bytes of a message depend on.
struct pattern_key {
  int source, target;
  std::uint64_t seed;
};

/// Fills `data` with the bytes that key.source sends to key.target in a message of this length.
void fill_pattern(std::span<std::byte> data, const pattern_key& key) noexcept;
/// Fills `data` so that every byte differs from the pattern: an untouched buffer never passes.
void fill_wrong(std::span<std::byte> data, const pattern_key& key) noexcept;

inline constexpr std::size_t all_right = ~std::size_t{0};
/// Offset of the first byte that is not the pattern's, or all_right.
[[nodiscard]] std::size_t first_wrong(std::span<const std::byte> data,
                                      const pattern_key& key) noexcept;

}  // namespace heddle::linktest
