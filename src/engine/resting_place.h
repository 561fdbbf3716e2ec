// SPDX-License-Identifier: BSD-3-Clause
// resting_place.h - what an executor sleeps on, and how others end its rest or make it shorter.
//
// One epoll set: a bell, the devices' descriptors, the endpoints of the lanes it watches, and a
// timer for who makes a deep rest a short one. How deep it rests says sync::executor_rest.
#pragma once
#include <heddle/types.h>

#include <cstdint>
#include <memory>
#include <span>

#include "base/fd.h"
#include "engine/helpers.h"
#include "sync/counters.h"
#include "sync/parking.h"
#include "transport/device.h"

namespace heddle::engine {

/// What one executor sleeps on.
class resting_place final : public alarm {
 public:
  using endpoints = std::span<const std::unique_ptr<transport::endpoint>>;

  struct rest {
    bool is_short = false;  ///< the program polls some lane
    int timeout_ms = -1;    ///< -1: without limit
  };
  /// What has ended a rest, the last of these where several have.
  enum class ended_by : std::uint8_t {
    tick,    ///< time: nobody has told that there is something to do
    lane,    ///< the descriptors of lanes
    others,  ///< the bell or the descriptors of devices
  };
  /// The shortest tick.
  static constexpr int least_tick_ms = 1;

  /// `self` is for traces. `alone`: the executor serves its lanes alone, so nobody else drives one
  /// for long. Throws error: no descriptors left.
  resting_place(rank self, bool alone);

  // --- whoever does the executor's duties, one thread at a time ------------------------------
  /// Idempotent. Both throw error.
  void add(std::span<transport::device* const> devices);
  /// Of a lane; not watched yet.
  void add(endpoints lane);
  /// So many ranks are on this one's core: together they look as often as one alone would.
  void share_core(int ranks) noexcept;
  /// How long a lane is left to the program that polls it before the executor looks again.
  [[nodiscard]] int tick_ms() const noexcept { return tick_ms_; }

  // --- the executor's thread -----------------------------------------------------------------
  /// Before it looks at its lanes: who leaves it something to do from now on ends the rest.
  void begin() noexcept { depth_.begin(); }
  /// There is something to do already: no rest.
  void stay_up() noexcept { depth_.end(); }
  /// Until somebody or something ends it.
  ended_by sleep(const rest& how) noexcept;

  // --- any thread ----------------------------------------------------------------------------
  bool watch(endpoints lane, bool wanted) noexcept override;
  /// Of one that serves alone, a deep rest ends at once.
  void look_soon() noexcept override;
  void wake() noexcept override;
  /// Ends this rest, or the next one; not counted.
  void interrupt() noexcept;

  /// How many rests were ended by an event, by a tick; how often others have rung.
  [[nodiscard]] std::uint64_t wakes() const noexcept { return wakes_.get(); }
  [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_.get(); }
  [[nodiscard]] std::uint64_t rings() const noexcept override { return rings_.get(); }

 private:
  void ring() noexcept;

  const rank self_;
  const bool alone_;
  const unique_fd epoll_, bell_, tick_;
  int tick_ms_ = least_tick_ms;  // constant while somebody rests here
  sync::executor_rest<> depth_;
  sync::owned_counter wakes_, ticks_;
  sync::shared_counter rings_;
};

}  // namespace heddle::engine
