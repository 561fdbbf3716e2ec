// SPDX-License-Identifier: BSD-3-Clause
// gups_stream.cpp - jumping ahead in the sequence, and undoing updates by repeating them.
#include "kernels/gups_stream.h"

#include <algorithm>
#include <array>
#include <bit>

namespace heddle::bench {

/// By squaring: powers[i] is the sequence after 2i steps, that is x^(2i), so summing powers[i] for
/// the bits i of x^k gives x^(2k).
std::uint64_t gups_stream::starts(std::uint64_t offset) noexcept {
  std::array<std::uint64_t, 64> powers{};
  std::uint64_t power = 1;
  for (std::uint64_t& p : powers) {
    p = power;
    power = step(step(power));
  }
  std::uint64_t x = 1;
  for (int bit = static_cast<int>(std::bit_width(offset)) - 1; bit >= 0; --bit) {
    std::uint64_t squared = 0;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (x >> i & 1) squared ^= powers[i];
    }
    x = offset >> bit & 1 ? step(squared) : squared;
  }
  return x;
}

gups_stream gups_plan::stream(int rank, int thread) const noexcept {
  const int place = rank * threads + thread;
  return gups_stream(first + static_cast<std::uint64_t>(place) * updates);
}

int gups_plan::target(int from, std::uint64_t random) const noexcept {
  const std::uint64_t above = random >> std::countr_zero(words);
  const auto distance = static_cast<int>(above % static_cast<std::uint64_t>(ranks - 1)) + 1;
  return (from + distance) % ranks;
}

std::uint64_t gups_words(std::uint64_t memory_bytes) noexcept {
  return std::bit_floor(std::max<std::uint64_t>(memory_bytes / 2 / sizeof(std::uint64_t), 1));
}

void reset_table(std::span<std::uint64_t> table) noexcept {
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = i;
}

std::uint64_t count_lost(std::span<std::uint64_t> table, const gups_plan& plan, int rank) noexcept {
  for (int from = 0; from < plan.ranks; ++from) {
    if (from == rank) continue;
    for (int t = 0; t < plan.threads; ++t) {
      gups_stream numbers = plan.stream(from, t);
      for (std::uint64_t i = 0; i < plan.updates; ++i) {
        const std::uint64_t random = numbers.next();
        if (plan.target(from, random) == rank) table[plan.index(random)] ^= random;
      }
    }
  }
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < table.size(); ++i) lost += table[i] == i ? 0 : 1;
  return lost;
}

}  // namespace heddle::bench
