// SPDX-License-Identifier: BSD-3-Clause
// outcome_of.h - the blocking form of what is posted by a function rather than by the lane itself.
#pragma once
#include <heddle/lane.h>

namespace heddle::detail {

/// Posts by `attempt(completion)`, again as long as there is no room, and waits for the end. Not
/// from a callback, like everything that waits.
template <class F>
outcome outcome_of(lane& on, F&& attempt) noexcept {
  for (;;) {
    flag ended;
    const status s = attempt(ended);
    if (s == status::posted && on.wait(ended) == status::closed) return {.code = status::closed};
    if (s == status::posted) return ended.result();
    if (!is_busy(s)) return {.code = s};
    flag room;
    on.when_ready(room);
    if (const status waited = on.wait(room); waited != status::done) return {.code = waited};
  }
}

}  // namespace heddle::detail
