// SPDX-License-Identifier: BSD-3-Clause
// peers.h - what one lane keeps of each peer, and how it finds that.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/verbs/facts.h"
#include "backends/verbs/stream.h"
#include "base/lane_table.h"
#include "base/todo_list.h"
#include "transport/published_regions.h"
#include "transport/remote_lane.h"

namespace heddle::transport::verbs {

struct peer_lane;
class verbs_device;

/// Why a peer is lost, in most cases.
inline constexpr const char* silent =
    "its network card does not answer any more: its process, its node or the way to it has gone";

/// Of those with whom nothing is under way, so many are asked at a time whether they are there.
inline constexpr std::size_t probes_per_turn = 16;

/// A region of a peer as this lane reaches it.
struct peer_region : known_region {
  rights allowed = rights::none;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< 0: not registered
  std::uint32_t key = 0;
};

/// What the lanes of one peer have in common: its process.
struct peer_process {
  peer_facts facts;
  known_regions<peer_region> regions;
};

/// One lane of a peer.
struct peer_lane final : remote_lane {
  peer_lane(peer_process& of, rank who, int number) noexcept
      : remote_lane(who, number), process(&of) {}

  peer_process* process;
  stream out;
  bool lost = false;
  const char* why = silent;  ///< it was lost; a constant text
  todo_link<peer_lane> in_lost, in_unpushed, in_unsettled;
};

class peers {
 public:
  explicit peers(verbs_device& device) : device_(device) {}

  /// nullptr: the device does not know the peer, or there is no memory for it.
  [[nodiscard]] peer_lane* find(rank number, int lane) noexcept {
    peer_lane* const known = known_.find(number, lane);
    return known != nullptr ? known : make(number, lane);
  }
  /// By the number of its stream.
  [[nodiscard]] const std::vector<peer_lane*>& all() const noexcept { return all_; }
  [[nodiscard]] peer_lane* at(std::uint32_t stream) const noexcept {
    return stream < all_.size() ? all_[stream] : nullptr;
  }

  /// It is gone: later it is told, and what is under way to it is ended.
  void lose(peer_lane& p, const char* why) noexcept {
    if (std::exchange(p.lost, true)) return;
    p.why = why;
    lost_.add(p);
  }
  [[nodiscard]] bool some_lost() const noexcept { return !lost_.empty(); }
  /// Calls function(peer) once for each that was lost.
  template <class F>
  void take_lost(F function) noexcept {
    lost_.take_all(function);
  }

 private:
  [[gnu::noinline]] peer_lane* make(rank number, int lane) noexcept;

  verbs_device& device_;
  std::unordered_map<rank, std::unique_ptr<peer_process>> processes_;
  lane_table<peer_lane> known_;
  std::vector<peer_lane*> all_;
  todo_list<peer_lane, &peer_lane::in_lost> lost_;
};

}  // namespace heddle::transport::verbs
