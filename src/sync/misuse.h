// SPDX-License-Identifier: BSD-3-Clause
// misuse.h - mistakes of the program that Heddle looks for while HEDDLE_CHECKS is on, and how it
// ends a program that makes one.
//
// Off, it costs a call of a lane nothing but what special.h says, and direct access nothing at all.
#pragma once
#include <string_view>

#include "sync/special.h"

namespace heddle::sync {

/// From now on this process is looked at.
inline void look_for_misuse() noexcept {
  becomes(special::looked_at);
}
[[nodiscard]] inline bool looks_for_misuse() noexcept {
  return is(special::looked_at);
}

/// Where a mistake was made; -1: not known, or on no lane.
struct place {
  int rank = -1, lane = -1;
};

/// Ends the program with a line on standard error: where, on which thread, what, and what to do.
[[noreturn, gnu::cold]] void end_for_misuse(place where, std::string_view what,
                                            std::string_view cure) noexcept;

}  // namespace heddle::sync
