// SPDX-License-Identifier: BSD-3-Clause
// prometheus.cpp - counters in the text format of Prometheus, which OpenMetrics readers take too.
#include <fmt/format.h>
#include <heddle/counters.h>

#include <iterator>

namespace heddle {
namespace {

std::string labels(const lane_counters& of) {
  return fmt::format(R"(rank="{}",lane="{}")", of.rank, of.lane);
}
std::string labels(const peer_counters& of) {
  return fmt::format(R"(rank="{}",lane="{}",peer="{}",peer_lane="{}")", of.rank, of.lane, of.peer,
                     of.peer_lane);
}

/// All values of a metric stand together, behind what says what it is.
template <class Counters>
void add(std::string& text, std::string_view prefix, std::span<const counter_row> table,
         std::span<const Counters> all) {
  if (all.empty()) return;
  const auto end = std::back_inserter(text);
  for (const counter_row& row : table) {
    const bool counts = row.kind == counter_kind::counter;
    const std::string name =
        fmt::format("heddle_{}_{}{}", prefix, row.name, counts ? "_total" : "");
    fmt::format_to(end, "# HELP {} {}: {}\n# TYPE {} {}\n", name, row.unit, row.help, name,
                   counts ? "counter" : "gauge");
    for (const Counters& one : all)
      fmt::format_to(end, "{}{{{}}} {}\n", name, labels(one), row.in(one));
  }
}

}  // namespace

std::string prometheus_text(std::span<const lane_counters> lanes,
                            std::span<const peer_counters> peers) {
  std::string text;
  add(text, "lane", lane_counter_table(), lanes);
  add(text, "peer", peer_counter_table(), peers);
  return text;
}

}  // namespace heddle
