// SPDX-License-Identifier: BSD-3-Clause
// cache_line.h - how far apart words of different owners must lie.
#pragma once
#include <bit>
#include <cstddef>

namespace heddle::sync {

/// Of the CPU that is built for: 64 bytes on x86 and most others, 256 on an A64FX. The build says.
inline constexpr std::size_t cache_line = HEDDLE_CACHE_LINE;
static_assert(std::has_single_bit(cache_line) && cache_line >= 64);

/// Asks the CPU for a line that is going to be written. A prefetch for reading, which compilers
/// make of it for the oldest CPUs, would fetch it a second time.
inline void fetch_to_write(const void* at) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));  // nothing where unknown
#else
  __builtin_prefetch(at, 1);
#endif
}

/// Tells the CPU that this is a polling loop.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace heddle::sync
