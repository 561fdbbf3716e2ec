// SPDX-License-Identifier: BSD-3-Clause
// lane_sleeper.h - how a thread of the program sleeps until there is news on a lane.
#pragma once
#include <cstdint>

#include "engine/descriptor_list.h"
#include "engine/lane_driver.h"
#include "sync/counters.h"

namespace heddle::engine {

class lane_sleeper {
 public:
  explicit lane_sleeper(lane_driver& of) noexcept : driver_(of) {}

  /// Until there is news, the calling thread's waker is rung, `deadline_ns` comes (0: none), or so
  /// much time has passed. `follows`: the executor looks after the lane for many, and the thread
  /// sleeps on its waker alone.
  void sleep(std::uint64_t deadline_ns, std::uint64_t backstop_ns, bool follows) noexcept;
  /// How often its backstop found news: a wake was late or lost. Any thread.
  [[nodiscard]] std::uint64_t rescues() const noexcept { return rescues_.get(); }

 private:
  /// What a thread finds that wants to sleep on a lane's descriptors.
  enum class found : std::uint8_t {
    silence,    ///< they are armed, and tell what comes from now on
    news,       ///< something has come meanwhile: look at it first
    elsewhere,  ///< they tell nothing: another thread drives the lane, or a wire cannot be armed
  };
  found prepare() noexcept;
  found arm(protocols::delivery_batch& batch) noexcept;
  bool leave_to_executor() noexcept;
  bool sleep_on(descriptor_list& watched, std::uint64_t limit_ns) const;
  void watch(descriptor_list& watched, bool news) const;
  void look_after_backstop() noexcept;

  lane_driver& driver_;
  sync::shared_counter rescues_;
};

}  // namespace heddle::engine
