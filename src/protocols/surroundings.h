// SPDX-License-Identifier: BSD-3-Clause
// surroundings.h - what the protocols of a lane know of its world, and what they count.
#pragma once
#include <heddle/types.h>

#include <cstdint>
#include <span>

#include "base/settings.h"
#include "protocols/delivery.h"
#include "sync/counters.h"
#include "sync/release_acquire.h"
#include "transport/device.h"

namespace heddle::protocols {

class lost_peers;

/// In surroundings::atomic_route: atomics on the peer are a network's own, and the lane has no way
/// there.
inline constexpr std::uint8_t no_route = UINT8_MAX;

/// Constant while the lane lives.
struct surroundings {
  int lane = 0;  ///< its number
  rank self = 0;
  int size = 1;
  const settings* config = nullptr;
  memory::region_table* regions = nullptr;
  lost_peers* losses = nullptr;
  std::span<transport::device* const> devices;
  /// By device: a number of its backend. Those of one backend are rails of a peer. Empty: each is
  /// alone.
  std::span<const std::uint8_t> backends;
  std::span<const std::uint8_t> route;         ///< by rank: index into devices
  std::span<const std::uint8_t> atomic_route;  ///< the same, for atomics, or no_route
  std::span<const sync::release_acquire<const handler_entry*>> handlers;  ///< by id; null: none
  /// The same, of handlers that are told at the header; their payload is a held_payload.
  std::span<const sync::release_acquire<const handler_entry*>> header_handlers;
};

/// Counted for people: lane_counters of counters.h tells of each.
struct port_counters {
  sync::owned_counter events, eager, rendezvous, emulated, stripes, unexpected, backlogged;
  sync::owned_counter posts_together, posted_together;  ///< posts of several ops, and how many
  sync::owned_counter unknown_handler, lost_peers, violations;
};

}  // namespace heddle::protocols
