// SPDX-License-Identifier: BSD-3-Clause
// clock.h - the one clock of the library: monotonic, in nanoseconds.
#pragma once
#include <time.h>

#include <cstdint>

namespace heddle {

/// Nanoseconds since some fixed point of this boot. Never goes back; stands still in suspend.
/// Any thread; no system call where the kernel offers a vDSO (about 20 to 50 ns).
[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);  // cannot fail: the clock exists, the pointer is good
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace heddle
