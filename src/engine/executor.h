// SPDX-License-Identifier: BSD-3-Clause
// executor.h - the thread that keeps lanes moving while the program computes.
//
// It rests (resting_place.h) while the descriptors of the lanes that nobody else attends to are
// silent. Three things keep it out of the program's way:
//   a deep rest     no lane is polled by the program: until a descriptor tells
//   a sleeper       a thread of the program sleeps on the lane's descriptors: nothing to watch
//   a poller        the program polls the lane: it looks again after a tick, and takes over when
//                   the polling has stopped
// Where several threads wait on a lane and cores are few, it polls for all of them instead.
// Whoever takes something away that a deep rest relies on says so there: alarm::look_soon()
// (sync/parking.h).
//
// In mode dedicated there may be several, each with its lanes, who stay awake for a while after the
// last event. In mode inline the thread lives only while the program waits for the launcher;
// threads that poll do its other duties, and those of other such worlds (serve_inline).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "engine/executor_lanes.h"
#include "engine/helpers.h"
#include "engine/resting_place.h"
#include "sync/counters.h"
#include "sync/release_acquire.h"
#include "sync/sequential.h"

namespace heddle::engine {

class world_core;

class executor final : public keeper {
 public:
  /// Looks after every `of`-th lane, from lane `index` on; the first one serves the devices too.
  executor(world_core& world, int index, int of, std::uint64_t spin_ns);
  ~executor();

  /// Throws error: the system gives no thread. Then nothing has changed.
  void start();
  /// Ends the thread; idempotent. From then on, or until start(), nothing progresses by itself.
  void stop();
  /// Mode inline, instead of start(): whoever polls or waits does its duties from now on.
  void leave_to_others();
  /// Stops for good: in mode inline, too, nobody does its duties from then on.
  void end();
  void keep_off(int core) noexcept override;
  [[nodiscard]] bool keeps_to_another(int core) const noexcept override {
    return this->core() >= 0 && this->core() != core;
  }
  /// Any thread: a lane was made.
  void lanes_changed() noexcept;
  void serve_inline() noexcept override;
  [[nodiscard]] bool is_shared_inline() const noexcept override;
  /// The duties of this one's world in mode inline, at most every 50 us.
  void serve_own() noexcept;

  /// What it sleeps on.
  [[nodiscard]] resting_place& place() noexcept { return place_; }
  /// Where it is tied to; -1: nowhere.
  [[nodiscard]] int core() const noexcept { return static_cast<int>(core_.get()) - 1; }

 private:
  using by = resting_place::ended_by;
  void start_thread_now();
  void run();
  std::size_t work();
  std::size_t serve_devices(bool told);
  bool stays_awake(std::size_t events);
  void sleep();
  std::optional<resting_place::rest> prepare();
  void take_duties() noexcept;
  void adopt_lanes();
  void settle();

  world_core& world_;
  const int index_;
  const progress_mode mode_;
  const std::uint64_t spin_ns_;
  const std::uint64_t maintain_every_ms_;
  std::vector<int> cores_;  // that the thread may use; constant while it runs
  resting_place place_;
  std::thread thread_;
  sync::release_acquire_flag stop_, changed_;
  sync::owned_counter core_;
  sync::owned_counter avoided_, next_move_ns_;  // a core and one; hints, so the last writer wins
  sync::sequential_flag unserved_;              // mode inline: nobody does its duties just now
  sync::owned_counter next_serve_ns_;

  // The executor's thread only; in mode inline, whoever does its duties.
  executor_lanes lanes_;
  std::uint64_t awake_until_ns_ = 0;
  std::uint64_t picked_ = 0;
  unsigned turns_ = 0, idle_turns_ = 0;
  by told_by_ = by::others;  // who ended the last rest: devices may have something to do
};

}  // namespace heddle::engine
