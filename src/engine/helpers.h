// SPDX-License-Identifier: BSD-3-Clause
// helpers.h - who else moves a lane forward than the threads that use it, as the lane sees them.
#pragma once
#include <heddle/world.h>

#include <cstdint>
#include <memory>
#include <span>

#include "engine/idle_team.h"
#include "transport/endpoint.h"

namespace heddle::engine {

/// How a lane ends the rest of the executor that keeps it going, or serves it alone. Any thread.
class alarm {
 public:
  /// Somebody drives a lane on whose descriptors it relied: a deep rest ends with the next tick, as
  /// if it had found the lane polled. Costs one load when there is none.
  virtual void look_soon() noexcept = 0;
  /// There is something for it to do: ends any rest.
  virtual void wake() noexcept = 0;
  /// What a lane's armed descriptors tell ends its rest, or does no more, although it is not woken.
  /// False: it does not know the lane yet. Under the lane's hold.
  virtual bool watch(std::span<const std::unique_ptr<transport::endpoint>> lane,
                     bool wanted) noexcept = 0;
  /// How often this has rung its bell.
  [[nodiscard]] virtual std::uint64_t rings() const noexcept = 0;

 protected:
  ~alarm() = default;
};

/// What a lane asks of that executor beside it. Any thread.
class keeper {
 public:
  /// Something is to go on while a thread computes on `core`. The scheduler would often wake the
  /// executor there, behind that thread; so it is kept off that core, if it may use others.
  virtual void keep_off(int core) noexcept = 0;
  /// It is tied to another core than `core`, so that who waits there takes none from it.
  [[nodiscard]] virtual bool keeps_to_another(int core) const noexcept = 0;
  /// A thread of the program, in mode inline: devices, liveness, lanes that only peers use, and the
  /// same for other worlds in that mode.
  virtual void serve_inline() noexcept = 0;
  /// Mode inline, and other worlds of this rank need the program's threads as well.
  [[nodiscard]] virtual bool is_shared_inline() const noexcept = 0;

 protected:
  ~keeper() = default;
};

struct helpers {
  engine::alarm& alarm;
  engine::keeper& keeper;
  idle_team* team = nullptr;  ///< mode idle
  progress_mode mode = progress_mode::adaptive;
  std::uint64_t spin_ns = 50'000;  ///< awake without an event before a sleep
  int cores = 1;                   ///< this rank's share of the host's
  int ranks_per_core = 1;          ///< of the host, rounded up

  [[nodiscard]] bool only_inline() const noexcept { return mode == progress_mode::inline_only; }
  [[nodiscard]] bool dedicated() const noexcept { return mode == progress_mode::dedicated; }
  /// Something was left for whoever comes first.
  void wake() const noexcept { team != nullptr ? team->wake() : alarm.wake(); }
  /// A lane is held, by a helper perhaps that has lost its core, and somebody waits for it.
  void boost() const noexcept {
    if (team != nullptr) team->boost();
  }
};

}  // namespace heddle::engine
