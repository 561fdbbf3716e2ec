// SPDX-License-Identifier: BSD-3-Clause
#include "trace/merged.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace heddle::tools {
namespace {

using nlohmann::json;

/// From a host's clock to the wall's, in nanoseconds.
std::int64_t to_wall_ns(const json& other) {
  return other.value("wall_ns", std::int64_t{0}) - other.value("monotonic_ns", std::int64_t{0});
}

void move(json& events, double us) {
  for (json& e : events)
    if (e.contains("ts")) e["ts"] = e["ts"].get<double>() + us;
}

}  // namespace

json merged(std::vector<json> traces) {
  json all{{"displayTimeUnit", "ns"}, {"traceEvents", json::array()}};
  json ranks = json::array();
  std::map<std::string, std::int64_t> clocks;  // by host: of the first rank there
  std::int64_t first_ns = 0;
  std::uint64_t lost = 0, sample = 1;
  for (json& trace : traces) {
    const json other = trace.value("otherData", json::object());
    const auto [clock, is_new] = clocks.try_emplace(other.value("host", ""), to_wall_ns(other));
    if (is_new && clocks.size() == 1) first_ns = clock->second;
    json& events = trace["traceEvents"];
    if (clock->second != first_ns)
      move(events, static_cast<double>(clock->second - first_ns) / 1000);
    for (json& e : events) all["traceEvents"].push_back(std::move(e));
    ranks.push_back(other.value("rank", -1));
    lost += other.value("lost_events", std::uint64_t{0});
    sample = std::max(sample, other.value("sample", std::uint64_t{1}));
  }
  all["otherData"] = {{"ranks", ranks}, {"lost_events", lost}, {"sample", sample}};
  return all;
}

}  // namespace heddle::tools
