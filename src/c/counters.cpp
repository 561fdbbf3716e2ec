// SPDX-License-Identifier: BSD-3-Clause
// counters.cpp - c.h: what lanes count.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "c/convert.h"

using heddle::c::of;

namespace {

static_assert(
    sizeof(heddle::lane_counters) == sizeof(heddle_lane_counters) &&
    offsetof(heddle::lane_counters, rank) == offsetof(heddle_lane_counters, rank) &&
    offsetof(heddle::lane_counters, lane) == offsetof(heddle_lane_counters, lane) &&
    offsetof(heddle::lane_counters, in_flight) == offsetof(heddle_lane_counters, in_flight) &&
    offsetof(heddle::lane_counters, in_flight_bytes) ==
        offsetof(heddle_lane_counters, in_flight_bytes) &&
    offsetof(heddle::lane_counters, waiting_threads) ==
        offsetof(heddle_lane_counters, waiting_threads) &&
    offsetof(heddle::lane_counters, events) == offsetof(heddle_lane_counters, events) &&
    offsetof(heddle::lane_counters, eager) == offsetof(heddle_lane_counters, eager) &&
    offsetof(heddle::lane_counters, rendezvous) == offsetof(heddle_lane_counters, rendezvous) &&
    offsetof(heddle::lane_counters, emulated) == offsetof(heddle_lane_counters, emulated) &&
    offsetof(heddle::lane_counters, stripes) == offsetof(heddle_lane_counters, stripes) &&
    offsetof(heddle::lane_counters, unexpected) == offsetof(heddle_lane_counters, unexpected) &&
    offsetof(heddle::lane_counters, backlogged) == offsetof(heddle_lane_counters, backlogged) &&
    offsetof(heddle::lane_counters, posts_together) ==
        offsetof(heddle_lane_counters, posts_together) &&
    offsetof(heddle::lane_counters, posted_together) ==
        offsetof(heddle_lane_counters, posted_together) &&
    offsetof(heddle::lane_counters, unknown_handlers) ==
        offsetof(heddle_lane_counters, unknown_handlers) &&
    offsetof(heddle::lane_counters, lost_peers) == offsetof(heddle_lane_counters, lost_peers) &&
    offsetof(heddle::lane_counters, violations) == offsetof(heddle_lane_counters, violations) &&
    offsetof(heddle::lane_counters, left) == offsetof(heddle_lane_counters, left) &&
    offsetof(heddle::lane_counters, helped) == offsetof(heddle_lane_counters, helped) &&
    offsetof(heddle::lane_counters, rescues) == offsetof(heddle_lane_counters, rescues));
static_assert(
    sizeof(heddle::peer_counters) == sizeof(heddle_peer_counters) &&
    offsetof(heddle::peer_counters, rank) == offsetof(heddle_peer_counters, rank) &&
    offsetof(heddle::peer_counters, lane) == offsetof(heddle_peer_counters, lane) &&
    offsetof(heddle::peer_counters, peer) == offsetof(heddle_peer_counters, peer) &&
    offsetof(heddle::peer_counters, peer_lane) == offsetof(heddle_peer_counters, peer_lane) &&
    offsetof(heddle::peer_counters, sent_messages) ==
        offsetof(heddle_peer_counters, sent_messages) &&
    offsetof(heddle::peer_counters, sent_bytes) == offsetof(heddle_peer_counters, sent_bytes) &&
    offsetof(heddle::peer_counters, received_messages) ==
        offsetof(heddle_peer_counters, received_messages) &&
    offsetof(heddle::peer_counters, received_bytes) ==
        offsetof(heddle_peer_counters, received_bytes) &&
    offsetof(heddle::peer_counters, accesses) == offsetof(heddle_peer_counters, accesses) &&
    offsetof(heddle::peer_counters, accessed_bytes) ==
        offsetof(heddle_peer_counters, accessed_bytes) &&
    offsetof(heddle::peer_counters, backlog) == offsetof(heddle_peer_counters, backlog) &&
    offsetof(heddle::peer_counters, control) == offsetof(heddle_peer_counters, control) &&
    offsetof(heddle::peer_counters, credit) == offsetof(heddle_peer_counters, credit) &&
    offsetof(heddle::peer_counters, credit_limit) == offsetof(heddle_peer_counters, credit_limit) &&
    offsetof(heddle::peer_counters, held) == offsetof(heddle_peer_counters, held) &&
    offsetof(heddle::peer_counters, lost) == offsetof(heddle_peer_counters, lost));
static_assert(static_cast<int>(heddle::counter_kind::gauge) == HEDDLE_KIND_GAUGE);

/// The table in C: its texts are literals, and end with a zero byte.
template <std::size_t N>
std::array<heddle_counter_row, N> in_c(std::span<const heddle::counter_row> table) noexcept {
  std::array<heddle_counter_row, N> rows{};
  std::ranges::transform(table, rows.begin(), [](const heddle::counter_row& row) {
    return heddle_counter_row{row.name.data(), row.unit.data(), static_cast<int32_t>(row.kind),
                              row.help.data(), row.offset};
  });
  return rows;
}

/// A counter for each word behind the names.
constexpr std::size_t lane_rows =
    (sizeof(heddle_lane_counters) - offsetof(heddle_lane_counters, in_flight)) / sizeof(uint64_t);
constexpr std::size_t peer_rows =
    (sizeof(heddle_peer_counters) - offsetof(heddle_peer_counters, sent_messages)) /
    sizeof(uint64_t);

/// What a program of another version has, `each` bytes apart.
template <class Counters>
std::vector<Counters> read_sized(const void* first, std::size_t count, std::size_t each) {
  std::vector<Counters> all(count);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(&all[i], static_cast<const std::byte*>(first) + i * each,
                std::min(each, sizeof all[i]));
  return all;
}

}  // namespace

void heddle_lane_counters_init(heddle_lane_counters* counters, size_t size) {
  heddle::c::begin_sized(counters, size, heddle_lane_counters{});
}
void heddle_lane_read_counters(const heddle_lane* lane, heddle_lane_counters* into) {
  of(lane).read_counters(*reinterpret_cast<heddle::lane_counters*>(into));
}
heddle_status heddle_lane_read_peer_counters(heddle_lane* lane, heddle_peer_counters* into,
                                             size_t most, size_t each, size_t* found) {
  std::vector<heddle::peer_counters> all;
  heddle::status answer = heddle::status::no_memory;
  try {
    answer = of(lane).read_counters(all);
  } catch (const std::bad_alloc&) {
    all.clear();
  }
  *found = all.size();
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    all[i].size = std::min(each, sizeof all[i]);
    std::memcpy(reinterpret_cast<std::byte*>(into) + i * each, &all[i], all[i].size);
  }
  return of(answer);
}
char* heddle_world_metrics(const heddle_world* world) {
  return heddle::c::text_of([&] { return world->world.metrics(); });
}
const heddle_counter_row* heddle_lane_counter_table(size_t* rows) {
  static const auto table = in_c<lane_rows>(heddle::lane_counter_table());
  *rows = table.size();
  return table.data();
}
const heddle_counter_row* heddle_peer_counter_table(size_t* rows) {
  static const auto table = in_c<peer_rows>(heddle::peer_counter_table());
  *rows = table.size();
  return table.data();
}
char* heddle_prometheus_text(const heddle_lane_counters* lanes, size_t lane_count, size_t each_lane,
                             const heddle_peer_counters* peers, size_t peer_count,
                             size_t each_peer) {
  return heddle::c::text_of([&] {
    const auto of_lanes = read_sized<heddle::lane_counters>(lanes, lane_count, each_lane);
    const auto of_peers = read_sized<heddle::peer_counters>(peers, peer_count, each_peer);
    return heddle::prometheus_text(of_lanes, of_peers);
  });
}
