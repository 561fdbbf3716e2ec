// SPDX-License-Identifier: BSD-3-Clause
// lane_parking.h - who sleeps on a lane's descriptors, and telling them when these fall silent.
//
// In mode inline no executor takes over from a thread that has polled and left: there the lane has
// a bell, on which its sleepers sleep as well (docs/design/progress.md).
#pragma once
#include "base/fd.h"
#include "engine/helpers.h"
#include "sync/parking.h"

namespace heddle::engine {

/// Under the lane's hold, except for what any thread may call.
class lane_parking {
 public:
  /// Throws error: no descriptors left.
  explicit lane_parking(const helpers& help);

  [[nodiscard]] sync::parking<>& state() noexcept { return state_; }
  [[nodiscard]] const sync::parking<>& state() const noexcept { return state_; }
  /// The executor sleeps on the descriptors: there is no news, or it is about to look.
  [[nodiscard]] bool executor_watches() const noexcept {
    return state_.now() == sync::parking<>::state::watched;
  }
  /// Somebody polls: the descriptors tell nothing from now on.
  void disarm() noexcept {
    if (state_.is_armed()) [[unlikely]]
      disarm_for_poll();
  }
  /// Somebody has to poll: the same, and the executor comes at once where it relied on them.
  void disarm_and_wake() noexcept;
  /// The calling thread goes to sleep on the descriptors, which were armed just now, and on the
  /// bell.
  void begin_sleep() noexcept;
  /// Any thread, without the hold: it sleeps no more.
  void end_sleep() noexcept;
  /// Any thread. -1: there is none.
  [[nodiscard]] int bell() const noexcept { return bell_.get(); }

 private:
  void disarm_for_poll() noexcept;
  bool fall_silent() noexcept;

  keeper& keeper_;
  const unique_fd bell_;  // mode inline: readable while sleepers of a disarmed lane have to look
  sync::parking<> state_;
};

}  // namespace heddle::engine
