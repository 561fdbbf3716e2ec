// SPDX-License-Identifier: BSD-3-Clause
// executor.h - the thread that keeps lanes moving while the program computes.
//
// It sleeps on one epoll set: its bell, the devices' descriptors, and the endpoints of every lane
// that nobody else attends to. Three things keep it out of the program's way:
//   a deep rest     no lane is polled by the program: until a descriptor tells
//   a sleeper       a thread of the program sleeps on the lane's descriptors: nothing to watch
//   a poller        the program polls the lane: it looks again after a tick, and takes over when
//                   the polling has stopped
// Where several threads wait on a lane and cores are few, it polls for all of them instead.
// Whoever takes something away that a deep rest relies on calls look_soon() (sync/parking.h).
//
// In mode dedicated there may be several, each with its lanes, who stay awake for a while after the
// last event. In mode inline the thread lives only while the program waits for the launcher;
// threads that poll do its other duties, and those of other such worlds (serve_inline).
#pragma once
#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "engine/helpers.h"
#include "sync/counters.h"
#include "sync/parking.h"
#include "sync/shared_flag.h"
#include "transport/device.h"

namespace heddle::engine {

class lane_core;
class world_core;

class executor final : public keeper {
 public:
  /// Looks after every `of`-th lane, from lane `index` on; the first one serves the devices too.
  executor(world_core& world, int index, int of);
  ~executor();

  void start();
  /// Ends the thread; idempotent. From then on, or until start(), nothing progresses by itself.
  void stop();
  /// Mode inline, instead of start(): whoever polls or waits does its duties from now on.
  void leave_to_others();
  /// Stops for good: in mode inline, too, nobody does its duties from then on.
  void end();
  void look_soon() noexcept override;
  void wake() noexcept override;
  void keep_off(int core) noexcept override;
  /// Any thread: a lane was made.
  void lanes_changed() noexcept;
  void serve_inline() noexcept override;
  [[nodiscard]] bool is_shared_inline() const noexcept override;
  /// The duties of this one's world in mode inline, at most every 50 us.
  void serve_own() noexcept;

  [[nodiscard]] std::uint64_t wakes() const noexcept { return wakes_.get(); }
  [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_.get(); }
  [[nodiscard]] std::uint64_t rings() const noexcept override { return rings_.get(); }
  /// Where it is tied to; -1: nowhere.
  [[nodiscard]] int core() const noexcept { return static_cast<int>(core_.get()) - 1; }

 private:
  void run();
  std::size_t work();
  void sleep();
  int wait_for(std::span<epoll_event> events, int timeout_ms) const noexcept;
  bool prepare(int& timeout_ms);
  [[nodiscard]] bool alone() const noexcept { return lanes_.size() == 1; }
  bool stays_awake(std::size_t events);
  void watch(std::size_t lane, bool wanted);
  void take_duties() noexcept;
  void adopt_lanes();
  void settle();
  void maintain();
  void ring() noexcept;

  world_core& world_;
  const int index_, of_;
  const bool inline_, dedicated_;
  const std::uint64_t spin_ns_;
  std::vector<int> cores_;  // that the thread may use; constant while it runs
  unique_fd epoll_, bell_;
  unique_fd tick_;  // a timer, for who makes a deep rest a short one
  std::thread thread_;
  sync::executor_rest<> rest_;
  sync::event_bit stop_, changed_;
  sync::owned_counter wakes_, ticks_, core_;
  sync::shared_counter rings_;
  sync::owned_counter avoided_, next_move_ns_;  // a core and one; hints, so the last writer wins
  sync::agreed_flag unserved_;                  // mode inline: nobody does its duties just now
  sync::owned_counter next_serve_ns_;

  // The executor's thread only; in mode inline, whoever does its duties.
  struct watched_lane {
    lane_core* lane;
    bool watched;
  };
  std::vector<watched_lane> lanes_;
  std::uint64_t next_maintain_ns_ = 0;
  bool overdue_ = false;  // some lane was held when it was to be looked after
  std::uint64_t awake_until_ns_ = 0;
  std::uint64_t picked_ = 0;
  unsigned turns_ = 0, idle_turns_ = 0;
  bool told_ = true;     // not only by lanes that there is something to do: devices may have some
  bool polled_ = false;  // some lane by the program: it rests for a tick only
};

}  // namespace heddle::engine
