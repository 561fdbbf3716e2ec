// SPDX-License-Identifier: BSD-3-Clause
// ticks.h - the clock of a trace: as cheap as the machine has one, and what it means in
// nanoseconds.
#pragma once
#include <cstdint>

#include "base/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace heddle::trace {

#if defined(__x86_64__)
/// Whether the counter of the processor runs evenly, at one rate on all cores.
inline bool has_even_counter() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}
#endif

/// Never goes back on a thread, and hardly between threads. Any thread.
[[nodiscard, gnu::always_inline]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  static const bool even = has_even_counter();
  if (even) [[likely]]
    return __builtin_ia32_rdtsc();
  return now_ns();
#elif defined(__aarch64__)
  std::uint64_t now = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return now_ns();
#endif
}

/// Ticks at some time of the clock of base/clock.h.
struct moment {
  std::uint64_t ticks = 0, ns = 0;

  [[nodiscard]] static moment now() noexcept {
    const std::uint64_t before = trace::ticks();
    const std::uint64_t ns = now_ns();
    return {before + (trace::ticks() - before) / 2, ns};
  }
};

/// Ticks to nanoseconds of that clock, by two moments some milliseconds apart.
class tick_scale {
 public:
  tick_scale(moment from, moment to) noexcept
      : from_(from),
        ns_per_tick_(to.ticks > from.ticks ? static_cast<double>(to.ns - from.ns) /
                                                 static_cast<double>(to.ticks - from.ticks)
                                           : 1.0) {}
  [[nodiscard]] double ns(std::uint64_t ticks) const noexcept {
    const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - from_.ticks));
    return static_cast<double>(from_.ns) + since * ns_per_tick_;
  }

 private:
  moment from_;
  double ns_per_tick_;
};

}  // namespace heddle::trace
