// SPDX-License-Identifier: BSD-3-Clause
// checks.h - rules of the engine itself, which only debug builds (those without NDEBUG) look after.
// What programs do wrong is looked for by sync/misuse.h.
#pragma once
#include <cstdio>
#include <cstdlib>

namespace heddle {

#ifdef NDEBUG
inline constexpr bool checking = false;
#else
inline constexpr bool checking = true;
#endif

/// In debug builds ends the program, with `rule` on standard error, when it is not kept. In others
/// `kept` has to be free: write `if constexpr (checking)` around what is not.
inline void check(bool kept, const char* rule) noexcept {
  if (!checking || kept) return;
  std::fprintf(stderr, "heddle: %s\n", rule);
  std::abort();
}

}  // namespace heddle
