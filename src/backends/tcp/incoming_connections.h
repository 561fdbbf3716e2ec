// SPDX-License-Identifier: BSD-3-Clause
// incoming_connections.h - the part of a lane that other threads reach: where connections come in
// that peers made, and which connection was chosen.
//
// Both sides may begin to connect at once. Of what comes of that the lower one (by rank, then lane)
// chooses the first connection that is ready, and says so on it; the higher one
// posts nothing before. Those that the peer made are chosen by whoever gives them, so that it need
// not wait until the lane is polled.
#pragma once
#include <heddle/types.h>

#include <array>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "backends/tcp/acceptor.h"
#include "sync/release_acquire.h"

namespace heddle::transport::tcp {

/// Any thread, except where said.
class incoming_connections {
 public:
  /// One lane of a rank.
  using lane_name = std::pair<rank, int>;

  explicit incoming_connections(lane_name self) : self_(self), doorbell_(make_eventfd()) {}

  /// A connection of a peer's making; one that is not wanted is turned away.
  void give(accepted who);
  /// What was given. Owner thread only.
  [[nodiscard]] std::vector<accepted> take();
  [[nodiscard]] bool any() const noexcept { return was_given_.is_set(); }
  /// Readable while there are any.
  [[nodiscard]] int fd() const noexcept { return doorbell_.get(); }

  /// Who talks to itself has both ends, and chooses at the one that it made.
  [[nodiscard]] bool chooses(lane_name peer, bool ours) const noexcept {
    return self_ < peer || (self_ == peer && ours);
  }
  /// Says on a fresh connection that it is the one. False: another was chosen before.
  [[nodiscard]] bool choose(stream& with, lane_name peer);

 private:
  const lane_name self_;
  unique_fd doorbell_;
  sync::release_acquire_flag was_given_;
  std::mutex mutex_;  // guards what follows
  std::vector<accepted> given_;
  std::set<lane_name> chosen_;  // for whom this side has chosen
};

/// Ends a connection in order, so that the peer waits for the one that was chosen and does not hold
/// us for dead.
void turn_away(stream with) noexcept;

}  // namespace heddle::transport::tcp
