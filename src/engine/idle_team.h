// SPDX-License-Identifier: BSD-3-Clause
// idle_team.h - threads that run only on cores that would be idle, and submit and poll there.
//
// They run under SCHED_IDLE: any thread of the program takes a core from them at once. So one can
// be stopped while it holds a lane; a thread that waits for that lane boosts it: it runs at normal
// priority until it has let go (PIOMan raises its threads before every poll instead: two system
// calls each). They only try to hold, never wait, and sleep when there has been nothing to do.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "sync/counters.h"
#include "sync/release_acquire.h"
#include "sync/sequential.h"

namespace heddle::engine {

class world_lanes;

class idle_team {
 public:
  /// `lanes` must outlive it.
  idle_team(world_lanes& lanes, std::uint64_t spin_ns);
  ~idle_team();

  void start(int threads);
  /// Ends them; idempotent. What boost() looks at stays: a thread may still wait for a lane.
  void stop();

  /// Any thread: something was left for them. One load when one is awake.
  void wake() noexcept;
  /// Any thread: a lane is held, by one of them perhaps, and somebody waits for it.
  void boost() noexcept;

  [[nodiscard]] std::uint64_t wakes() const noexcept { return wakes_.get(); }
  [[nodiscard]] std::uint64_t boosts() const noexcept { return boosts_.get(); }

 private:
  struct member {
    std::thread thread;
    sync::owned_counter id;         // of the thread; 0: not yet known
    sync::sequential_flag working;  // may hold a lane
    sync::sequential_flag boosted;  // runs at normal priority
  };
  void run(member& me);
  std::size_t work(member& me);
  void sleep(member& me);

  world_lanes& lanes_;
  const std::uint64_t spin_ns_;
  unique_fd bell_;
  sync::sequential_flag asleep_;
  sync::release_acquire_flag stop_;
  sync::shared_counter wakes_, boosts_;
  std::vector<std::unique_ptr<member>> members_;
};

}  // namespace heddle::engine
