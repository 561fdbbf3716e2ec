// SPDX-License-Identifier: BSD-3-Clause
// routes.h - which device carries what is for a peer, on each lane.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "transport/device.h"

namespace heddle::engine {

/// What lanes of some numbers have in common.
struct lane_routes {
  std::vector<transport::device*> devices;  ///< over which some rank sends
  std::vector<std::uint8_t> backends;       ///< by device: a number of its backend
  std::vector<std::uint8_t> route;          ///< by rank: index into devices
  /// The same for atomics, or protocols::no_route: a network that does all atomics on the peer by
  /// itself does not have so many lanes.
  std::vector<std::uint8_t> atomics;
};

/// Threads: one at a time.
class routes {
 public:
  struct candidate {
    transport::device* through;
    std::uint8_t backend;  ///< a number that devices of one backend share
  };
  /// `devices` best first.
  routes(std::span<const candidate> devices, int ranks);

  /// The device of this index reaches `peer`, on lanes whose numbers are below `lanes`.
  void add(std::size_t device, rank peer, std::size_t lanes);
  [[nodiscard]] bool reaches(rank peer) const noexcept;
  /// Over one device on every lane that there can be: `device`, behind it and of another backend,
  /// has nothing to add.
  [[nodiscard]] bool needless(std::size_t device, rank peer) const noexcept;
  /// Indices of the devices over which some peer is reached on some lane.
  [[nodiscard]] std::set<std::size_t> used() const;
  /// Peers send over this device, so lanes need it also where they do not send over it themselves.
  /// Before the first of().
  void hear(std::size_t device) { heard_.insert(device); }

  /// Over the best device that has the lane on both sides; where none has, over the best of all,
  /// which says why when it is asked for an endpoint. Valid as long as this is.
  [[nodiscard]] const lane_routes& of(int lane);
  /// Where plain instructions of this process on the peer's memory may do atomics.
  [[nodiscard]] bool cpu_does_atomics(rank peer) const noexcept;

 private:
  struct reach : candidate {
    std::vector<std::uint16_t> lanes;  // by rank; 0: not at all
  };
  static std::size_t at(rank peer) noexcept { return static_cast<std::size_t>(peer); }
  [[nodiscard]] std::size_t best(std::size_t peer, std::size_t lane) const noexcept;
  [[nodiscard]] std::size_t owner_of_atomics(std::size_t peer) const noexcept;
  [[nodiscard]] lane_routes make(std::size_t lane) const;
  [[nodiscard]] std::uint8_t join(lane_routes& made, std::size_t device) const;

  std::size_t ranks_;
  std::vector<reach> devices_;
  std::set<std::size_t> heard_;
  std::set<std::size_t> limits_;                 // behind the last lane of some device and peer
  std::map<std::size_t, lane_routes> by_limit_;  // lanes with as many limits below have the same
};

}  // namespace heddle::engine
