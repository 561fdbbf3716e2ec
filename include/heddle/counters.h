// SPDX-License-Identifier: BSD-3-Clause
// counters.h - what lanes count, as data: numbers of each lane, and of each peer that it has had to
// do with. For programs that watch themselves, and for tools.
//
// A counter only grows while the world lives; a gauge is how things stand. Names, units and
// meanings are in one table each, from which `heddle info`, world::describe(), the Prometheus text
// and docs/guide/observe.md are made; in C and Python the names are the same.
//
// What is put, got or changed by plain stores and loads of mapped memory is not counted: there is
// nobody who could.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle {

/// Of a lane. New members are added at the end: `size` says which of them the reader knows.
struct lane_counters {
  std::size_t size = sizeof(lane_counters);
  std::int32_t rank = -1;  ///< this one
  std::int32_t lane = -1;
  std::uint64_t in_flight = 0;
  std::uint64_t in_flight_bytes = 0;
  std::uint64_t waiting_threads = 0;
  std::uint64_t events = 0;
  std::uint64_t eager = 0;
  std::uint64_t rendezvous = 0;
  std::uint64_t emulated = 0;
  std::uint64_t stripes = 0;
  std::uint64_t unexpected = 0;
  std::uint64_t backlogged = 0;
  std::uint64_t posts_together = 0;
  std::uint64_t posted_together = 0;
  std::uint64_t unknown_handlers = 0;
  std::uint64_t lost_peers = 0;
  std::uint64_t violations = 0;
  std::uint64_t left = 0;
  std::uint64_t helped = 0;
  std::uint64_t rescues = 0;
};

/// Of one lane of one peer, as seen by a lane of this rank.
struct peer_counters {
  std::size_t size = sizeof(peer_counters);
  std::int32_t rank = -1;  ///< this one
  std::int32_t lane = -1;  ///< of this rank
  std::int32_t peer = -1;
  std::int32_t peer_lane = -1;
  std::uint64_t sent_messages = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_messages = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t accesses = 0;
  std::uint64_t accessed_bytes = 0;
  std::uint64_t backlog = 0;
  std::uint64_t control = 0;
  std::uint64_t credit = 0;
  std::uint64_t credit_limit = 0;
  std::uint64_t held = 0;
  std::uint64_t lost = 0;
};

enum class counter_kind : std::uint8_t { counter, gauge };

/// What a member of one of these is. The text is constant.
struct counter_row {
  std::string_view name;  ///< the member's
  std::string_view unit;
  counter_kind kind = counter_kind::counter;
  std::string_view help;
  std::size_t offset = 0;  ///< in the structure, in bytes

  /// Its value in `from`, a lane_counters or a peer_counters as the table is.
  template <class Counters>
  [[nodiscard]] std::uint64_t in(const Counters& from) const noexcept {
    return *reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(&from) + offset);
  }
};

/// A row for each member, in their order. Any thread.
[[nodiscard]] std::span<const counter_row> lane_counter_table() noexcept;
[[nodiscard]] std::span<const counter_row> peer_counter_table() noexcept;

/// These in the text format of Prometheus: heddle_lane_NAME and heddle_peer_NAME, with _total
/// behind a counter's, and ranks and lanes as labels. Several ranks' may stand in one text. Any
/// thread.
[[nodiscard]] std::string prometheus_text(std::span<const lane_counters> lanes,
                                          std::span<const peer_counters> peers);

}  // namespace heddle
