// executor.h - the thread that moves lanes forward while the program computes.
//
// It works while there is work and then sleeps on one epoll set. How it sleeps depends on who
// attends to the lanes:
//   nobody          their descriptors are armed and in the set: it sleeps until one tells
//   a sleeper       a thread of the program sleeps on the lane's descriptors: nothing to watch
//   a poller        the program polls the lane: it looks again after a tick, and takes over when
//                   the polling has stopped
// Whoever takes something away that a deep sleep counts on calls nudge().
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "backends/backend.h"
#include "base/fd.h"
#include "sync/counters.h"
#include "sync/shared_flag.h"

namespace heddle::engine {

class lane_core;
class world_core;

class executor {
 public:
  explicit executor(world_core& world);
  ~executor();

  void start();
  /// Ends the thread; idempotent. From then on nothing progresses by itself.
  void stop();
  /// Any thread. Ends a deep sleep; costs one load when there is none.
  void nudge() noexcept;
  /// The same, and ends the short sleeps between two looks at lanes that the program polls.
  void summon() noexcept;
  /// Any thread: a lane was made.
  void lanes_changed() noexcept;

  [[nodiscard]] std::uint64_t wakes() const noexcept { return wakes_.get(); }
  [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_.get(); }

 private:
  void run();
  std::size_t work();
  void sleep();
  bool prepare(int& timeout_ms);
  void watch(std::size_t lane, bool wanted);
  void adopt_lanes();
  void maintain();

  world_core& world_;
  unique_fd epoll_, bell_;
  std::thread thread_;
  sync::agreed_flag deep_, dozing_;
  sync::event_bit stop_, changed_;
  sync::owned_counter wakes_, ticks_;

  // The executor's thread only.
  struct watched_lane {
    lane_core* lane;
    bool watched;
  };
  std::vector<watched_lane> lanes_;
  std::uint64_t next_maintain_ns_ = 0;
  unsigned turns_ = 0;
  bool told_ = true;  // a descriptor was ready: a device's, perhaps
};

}  // namespace heddle::engine
