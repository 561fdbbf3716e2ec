// SPDX-License-Identifier: BSD-3-Clause
// world_progress.h - who moves a world's lanes beside the threads that use them: its executors and,
// in mode idle, its helpers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/executor.h"
#include "engine/idle_team.h"

namespace heddle::engine {

class world_core;

/// One per world.
class world_progress {
 public:
  /// `local_ranks`: as many are on this host. Throws error: no descriptors left, or a core that the
  /// process may not use.
  world_progress(world_core& world, int local_ranks);

  /// As the mode says.
  void start();
  /// Stops for good; what lanes tell them from then on goes unheard.
  void end() noexcept;

  /// Whom that lane asks.
  [[nodiscard]] executor& executor_of(int lane) const noexcept {
    return *executors_[static_cast<std::size_t>(lane) % executors_.size()];
  }
  /// That of mode inline, whose thread lives while the program waits for all ranks; elsewhere null.
  [[nodiscard]] executor* inline_executor() const noexcept;
  /// Null in other modes than idle.
  [[nodiscard]] idle_team* team() const noexcept { return team_.get(); }
  /// Awake without an event before a sleep.
  [[nodiscard]] std::uint64_t spin_ns() const noexcept { return spin_ns_; }

  /// Every lane once, where nobody else is at it. Any thread; never blocks.
  std::size_t idle_hook() noexcept;

  /// For people: how many threads they are, and what they did.
  [[nodiscard]] std::size_t threads() const noexcept;
  [[nodiscard]] std::string describe() const;

 private:
  world_core& world_;
  const std::uint64_t spin_ns_;
  std::vector<std::unique_ptr<executor>> executors_;
  std::unique_ptr<idle_team> team_;
};

}  // namespace heddle::engine
