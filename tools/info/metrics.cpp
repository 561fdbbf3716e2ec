// SPDX-License-Identifier: BSD-3-Clause
#include "info/metrics.h"

#include <heddle/counters.h>
#include <heddle/types.h>

#include <cstring>
#include <vector>

namespace heddle::tools {
namespace {

using json = nlohmann::ordered_json;

/// Of another version's, those that both know.
template <class Counters>
void fill(Counters& into, std::span<const counter_row> table, const json& by_name) {
  for (const counter_row& row : table) {
    const auto value = by_name.value(std::string(row.name), std::uint64_t{0});
    std::memcpy(reinterpret_cast<char*>(&into) + row.offset, &value, sizeof value);
  }
}

}  // namespace

std::string metrics_of(const json& worlds) {
  std::vector<lane_counters> lanes;
  std::vector<peer_counters> peers;
  for (const json& world : worlds) {
    for (const json& lane : world.value("lanes", json::array())) {
      lane_counters& l = lanes.emplace_back();
      l.rank = world["rank"];
      l.lane = lane["number"];
      fill(l, lane_counter_table(), lane["counters"]);
      for (const json& peer : lane.value("peers", json::array())) {
        peer_counters& p = peers.emplace_back();
        p.rank = l.rank;
        p.lane = l.lane;
        p.peer = peer["rank"];
        p.peer_lane = peer["lane"];
        fill(p, peer_counter_table(), peer["counters"]);
      }
    }
  }
  return prometheus_text(lanes, peers);
}

}  // namespace heddle::tools
