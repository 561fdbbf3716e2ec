// SPDX-License-Identifier: BSD-3-Clause
// executor_lanes.h - the lanes that an executor looks after.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/resting_place.h"
#include "engine/world_lanes.h"

namespace heddle::engine {

/// One thread at a time: the executor's; in mode inline, whoever does its duties.
class executor_lanes {
 public:
  /// What is to be known before a rest.
  struct readiness {
    bool work = false;       ///< there is some: no rest, and nothing else is known
    bool polled = false;     ///< some lane was, by the program since the last look
    bool away = true;        ///< whoever polled has given its core to a peer and waits for its turn
    bool in_flight = false;  ///< there is something
  };
  /// What others have given the executor to do.
  struct demand {
    std::uint64_t picked = 0;  ///< commands left for a helper that one has executed, so far
    bool polls = false;        ///< it polls for several threads that wait on few cores
  };

  /// Every `of`-th of a world's lanes, from lane `index` on. What the watched ones tell ends a rest
  /// in `place`.
  executor_lanes(world_lanes& all, resting_place& place, int index, int of) noexcept
      : all_(all), place_(place), index_(index), of_(of) {}

  [[nodiscard]] bool has(const lane_core& lane) const noexcept {
    return lane.number() % of_ == index_;
  }
  /// Takes on those that were made since. Throws error.
  void adopt();
  /// A turn for each; what that moved on lanes that are left to the executor.
  std::size_t serve() noexcept;
  /// In mode inline: a turn for each that no thread of the program looks after.
  void serve_left_alone() noexcept;
  /// Looks after what nothing tells of: dead peers, credit that does not come. When `every_ms` have
  /// passed since the last look, or it is overdue().
  void maintain(std::uint64_t every_ms) noexcept;
  /// Some lane was held when it was to be looked after, or has something to be looked at soon: it
  /// is tried after a tick.
  [[nodiscard]] bool overdue() const noexcept { return overdue_; }
  [[nodiscard]] demand asked() const noexcept;
  /// Gets each ready for a rest.
  [[nodiscard]] readiness prepare_rest() noexcept;
  /// Lets go what serve() holds.
  void dismiss() noexcept;

 private:
  [[nodiscard]] bool alone() const noexcept { return lanes_.size() == 1; }
  void look_soon() noexcept {
    overdue_ = true;
    next_maintain_ns_ = 0;
  }

  world_lanes& all_;
  resting_place& place_;
  const int index_, of_;
  std::vector<lane_core*> lanes_;
  std::uint64_t next_maintain_ns_ = 0;
  bool overdue_ = false;
};

}  // namespace heddle::engine
