// SPDX-License-Identifier: BSD-3-Clause
// nap.h - sleeping where the network wakes nobody: a timer does, soon after the last event and less
// and less often the longer nothing comes, so that news is late by a fraction of the silence before
// it.
#pragma once
#include <cstdint>

namespace heddle::transport::utofu {

inline constexpr std::uint64_t first_nap_ns = 50'000;
inline constexpr std::uint64_t longest_nap_ns = 32'000'000;
/// News is late by at most this part of the silence before it.
inline constexpr std::uint64_t part_of_silence = 8;

}  // namespace heddle::transport::utofu
