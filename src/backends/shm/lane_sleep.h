// SPDX-License-Identifier: BSD-3-Clause
// lane_sleep.h - how a lane sleeps: the word that says so to its peers, the bell that they ring,
// and the descriptor on which its thread waits for the bell and for the ends of peers.
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>

#include "backends/shm/os.h"
#include "backends/shm/peer_process.h"
#include "backends/shm/segment.h"

namespace heddle::transport::shm {

class lane_sleep {
 public:
  /// Throws when the process lacks descriptors.
  explicit lane_sleep(lane_slot& mine);
  /// From now on peers find the bell in the lane's slot.
  void show_bell() noexcept { mine_.bell.set(bell_.write.get()); }
  /// Nobody sleeps here any more.
  void hide_bell() noexcept;

  // Any thread.

  /// The peer's end is to wake the lane. Throws.
  void watch(const peer_process& peer);
  /// Makes a sleeping lane poll.
  void wake() noexcept { ring_bell(bell_.write.get()); }

  // The lane's thread only.

  void unwatch(const peer_process& peer) noexcept;
  /// Readable when the bell was rung or a peer has ended.
  [[nodiscard]] int fd() const noexcept { return awaited_.get(); }
  /// From now on whoever has work for the lane rings. A heavy_barrier() and a last look for work
  /// have to follow.
  void mark_asleep() noexcept;
  void mark_awake() noexcept;
  [[nodiscard]] bool is_asleep() const noexcept { return asleep_; }
  using ended_ranks = std::array<rank, 16>;
  /// Puts ranks whose processes may have ended into `out`, and returns how many. The others come in
  /// a later call. Leaves the bell alone: maintain() may come between arm() and the sleep.
  std::size_t find_ended(ended_ranks& out) noexcept;

 private:
  lane_slot& mine_;
  const bell_pipe bell_;
  const owned_fd awaited_;  // epoll: the bell, and the ends of all peers
  bool asleep_ = false;
};

}  // namespace heddle::transport::shm
