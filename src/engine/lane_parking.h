// SPDX-License-Identifier: BSD-3-Clause
// lane_parking.h - who sleeps on a lane's descriptors or rests meanwhile, and telling them when
// these fall silent.
//
// In mode inline no executor takes over from a thread that has polled and left: there the lane has
// a bell, on which its sleepers sleep as well (docs/design/progress.md).
#pragma once
#include "base/fd.h"
#include "engine/helpers.h"
#include "sync/parking.h"
#include "sync/relaxed.h"

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
  /// The executor is about to rest; `idle`: nothing is in flight, so that it needs no tick.
  void note_rest(bool idle) noexcept { rested_idle_ = idle; }
  /// The executor rests until the descriptors tell: it would not see a peer die.
  [[nodiscard]] bool rests_without_limit() const noexcept {
    return state_.is_relied_on() && rested_idle_;
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
  /// Any thread: one that waits has given its core to a peer on it, and polls when it gets it back.
  [[nodiscard]] bool is_away() const noexcept { return away_.get(); }
  void set_away(bool away) noexcept { away_.set(away); }
  /// Any thread. -1: there is none.
  [[nodiscard]] int bell() const noexcept { return bell_.get(); }

 private:
  void disarm_for_poll() noexcept;
  bool fall_silent() noexcept;

  alarm& alarm_;
  const unique_fd bell_;  // mode inline: readable while sleepers of a disarmed lane have to look
  sync::parking<> state_;
  bool rested_idle_ = false;  // nothing was in flight when the executor last began to rest
  sync::relaxed<bool> away_;
};

}  // namespace heddle::engine
