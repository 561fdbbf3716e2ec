// SPDX-License-Identifier: BSD-3-Clause
// world_assembly.h - where all ranks of a world come together: they make the same calls, in the
// same order, one at a time.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>

#include "bootstrap/bootstrap.h"
#include "engine/executor.h"
#include "engine/world_lanes.h"
#include "engine/world_meeting.h"
#include "sync/sequential.h"

namespace heddle::engine {

/// One per world. Any thread; each waits for its turn.
class world_assembly {
 public:
  /// One thread at a time waits for all ranks, and lanes move meanwhile. Throws error: `keeper` has
  /// no thread for that.
  class turn {
   public:
    explicit turn(world_assembly& of);
    ~turn();
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

   private:
    const sync::counted_in counted_;
    const std::lock_guard<std::mutex> lock_;
    executor* const keeper_;
  };

  /// Of the world that `session` is the membership of: by that where it is for more than joining,
  /// otherwise on lane 0 of `lanes`. `session` lasts until the world's end, after which nothing
  /// here is called; the others outlive it. `keeper` is that of mode inline, where nobody else
  /// moves lanes while the program waits for all ranks, and a peer may need that before it comes
  /// itself; elsewhere null.
  world_assembly(bootstrap::session& session, world_lanes& lanes, executor* keeper) noexcept
      : session_(session), lanes_(lanes), keeper_(keeper) {}

  /// Throws error, as does what follows: another rank makes another call, and which; a rank is
  /// gone.
  void barrier();
  /// For a world beside this one: gives `mine`, at most 4096 bytes, and returns everybody's.
  bootstrap::gathered exchange(std::span<const std::byte> mine);
  /// A thread waits for all ranks, or for its turn to. Any thread, also while all others hang.
  [[nodiscard]] bool is_under_way() const noexcept { return waiting_.get() != 0; }

  // --- with a turn -------------------------------------------------------------------------
  /// Whether all ranks claim the same as `mine`: nothing, or who does not.
  [[nodiscard]] std::optional<dissent> find_dissent(const claim& mine);
  /// What all ranks give, by rank.
  [[nodiscard]] bootstrap::gathered gather(std::span<const std::byte> mine);

 private:
  bootstrap::session& session_;
  world_lanes& lanes_;
  executor* const keeper_;
  sync::sequential_count waiting_;  // threads that wait for all ranks, or for their turn to

  std::mutex mutex_;       // one thread at a time has a turn
  world_meeting meeting_;  // where the session is for joining only
};

}  // namespace heddle::engine
