// SPDX-License-Identifier: BSD-3-Clause
// stamps.h - words that show when they were put together from two different ones.
#pragma once
#include <cstdint>

namespace conformance {

/// The word that stands for round `round`.
inline std::uint64_t stamp(std::uint64_t round) {
  return round * 0x9E3779B97F4A7C15u;
}

/// The round that `word` stands for. Bytes of two stamps give a number far beyond any round.
inline std::uint64_t round_of(std::uint64_t word) {
  return word * 0xF1DE83E19937733Du;
}

}  // namespace conformance
