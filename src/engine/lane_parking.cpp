// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_parking.h"

#include <sys/eventfd.h>

#include <cerrno>

#include "base/error.h"

namespace heddle::engine {

lane_parking::lane_parking(const helpers& help)
    : alarm_(help.alarm), bell_(help.only_inline() ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1) {
  if (help.only_inline() && !bell_)
    fail_errno(errno, "open a lane: no descriptors left (ulimit -n)");
}

/// Threads asleep on the descriptors are woken in mode inline only: in the others the executor
/// looks after the lane for them. Returns whether it relied on the descriptors.
inline bool lane_parking::fall_silent() noexcept {
  const auto before = state_.disarm();
  if (bell_ && before.sleepers) eventfd_write(bell_.get(), 1);
  return before.executor;
}

void lane_parking::disarm_for_poll() noexcept {
  if (fall_silent()) alarm_.look_soon();
}

void lane_parking::disarm_and_wake() noexcept {
  if (fall_silent()) alarm_.wake();
}

void lane_parking::begin_sleep() noexcept {
  eventfd_t rung = 0;
  if (bell_) eventfd_read(bell_.get(), &rung);
  state_.add_sleeper();
}

void lane_parking::end_sleep() noexcept {
  state_.remove_sleeper();
  alarm_.look_soon();  // it may rest because we slept here
}

}  // namespace heddle::engine
