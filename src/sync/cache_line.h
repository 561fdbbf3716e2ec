// cache_line.h - how far apart words of different owners must lie.
#pragma once
#include <cstddef>

namespace heddle::sync {

#if defined(__aarch64__)
inline constexpr std::size_t cache_line = 256;  // A64FX
#else
inline constexpr std::size_t cache_line = 64;
#endif

/// Tells the CPU that this is a polling loop.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace heddle::sync
