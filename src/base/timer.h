// SPDX-License-Identifier: BSD-3-Clause
// timer.h - a descriptor that becomes readable after a while.
#pragma once
#include <sys/timerfd.h>

#include <cstdint>

#include "base/fd.h"

namespace heddle {

/// None: there are no descriptors left, errno says so.
[[nodiscard]] inline unique_fd make_timer() noexcept {
  return unique_fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

/// Readable from `ns` after this on, until it is read or set again; 0 turns it off.
inline void set_timer(int timer, std::uint64_t ns) noexcept {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  when.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  (void)::timerfd_settime(timer, 0, &when, nullptr);  // cannot fail: the descriptor is a timer
}

}  // namespace heddle
