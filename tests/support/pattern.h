// SPDX-License-Identifier: BSD-3-Clause
// pattern.h - bytes that tell where they belong: any byte lost, moved or doubled shows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace heddle::test {

/// Byte `i` of the pattern numbered `which`.
inline std::byte pattern_byte(std::uint64_t which, std::size_t i) {
  const std::uint64_t mixed = (which + 1) * 0x9e3779b97f4a7c15 + (i >> 3) * 0xbf58476d1ce4e5b9;
  return static_cast<std::byte>((mixed ^ (mixed >> 29)) >> (8 * (i & 7)));
}

inline void fill_pattern(std::span<std::byte> out, std::uint64_t which) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = pattern_byte(which, i);
}

inline std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t which = 0) {
  std::vector<std::byte> out(bytes);
  fill_pattern(out, which);
  return out;
}

/// Index of the first byte that is not the pattern's, or bytes.size().
inline std::size_t first_difference(std::span<const std::byte> bytes, std::uint64_t which) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != pattern_byte(which, i)) return i;
  return bytes.size();
}

inline bool is_pattern(std::span<const std::byte> bytes, std::uint64_t which) {
  return first_difference(bytes, which) == bytes.size();
}

/// In one call: the sanitizers look at each access of a loop.
inline bool all_are(std::span<const std::byte> bytes, std::byte value) {
  if (bytes.empty()) return true;
  return bytes[0] == value && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace heddle::test
