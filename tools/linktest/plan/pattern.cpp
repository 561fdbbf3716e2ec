// SPDX-License-Identifier: BSD-3-Clause
// pattern.cpp - the bytes of the test data: a counter-based generator, so any part can be checked.
#include "linktest/plan/pattern.h"

#include <algorithm>
#include <cstring>

#include "linktest/plan/permutation.h"

namespace heddle::linktest {
namespace {

using word = std::uint64_t;

word start_of(const pattern_key& key, std::size_t bytes) noexcept {
  const auto pair =
      word{static_cast<std::uint32_t>(key.source)} << 32 | static_cast<std::uint32_t>(key.target);
  return mix(mix(key.seed ^ mix(pair)) ^ bytes);
}

/// Calls visit(offset, bytes of the pattern there) until it returns false.
template <class Visit>
void for_each_word(std::size_t bytes, const pattern_key& key, Visit visit) noexcept {
  const word start = start_of(key, bytes);
  for (std::size_t at = 0; at < bytes; at += sizeof(word)) {
    const word value = mix(start + at);
    if (!visit(at, value, std::min(sizeof(word), bytes - at))) return;
  }
}

void write(std::span<std::byte> data, const pattern_key& key, word flip) noexcept {
  for_each_word(data.size(), key, [&](std::size_t at, word value, std::size_t count) {
    value ^= flip;
    std::memcpy(data.data() + at, &value, count);
    return true;
  });
}

}  // namespace

void fill_pattern(std::span<std::byte> data, const pattern_key& key) noexcept {
  write(data, key, 0);
}

void fill_wrong(std::span<std::byte> data, const pattern_key& key) noexcept {
  write(data, key, ~word{0});
}

std::size_t first_wrong(std::span<const std::byte> data, const pattern_key& key) noexcept {
  std::size_t wrong = all_right;
  for_each_word(data.size(), key, [&](std::size_t at, word value, std::size_t count) {
    if (std::memcmp(data.data() + at, &value, count) == 0) return true;
    const auto* expected = reinterpret_cast<const std::byte*>(&value);
    wrong = at + static_cast<std::size_t>(
                     std::mismatch(expected, expected + count, data.data() + at).first - expected);
    return false;
  });
  return wrong;
}

}  // namespace heddle::linktest
