// SPDX-License-Identifier: BSD-3-Clause
// cache_line.h - how far apart words of different owners must lie.
#pragma once
#include <bit>
#include <cstddef>

namespace heddle::sync {

/// Of the CPU that is built for: 64 bytes on x86 and most others, 256 on an A64FX. The build says.
inline constexpr std::size_t cache_line = HEDDLE_CACHE_LINE;
static_assert(std::has_single_bit(cache_line) && cache_line >= 64);

/// Tells the CPU that this is a polling loop.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace heddle::sync
