// SPDX-License-Identifier: BSD-3-Clause
// spec.cpp - names, units and cores.
#include "harness/spec.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace heddle::bench {
namespace {

/// A step's times with computing, without it, and what they say, of each side that computes.
std::vector<metric> overlap_metrics(computing who) {
  std::vector<metric> all;
  for (const bool sends : {true, false}) {
    if (!computes(who, sends)) continue;
    const std::string side = sends ? "sender" : "receiver";
    all.push_back({"total", "us", side});
    all.push_back({"overlap_ratio", "1", side});
    for (const char* name : {"alone", "isend", "compute", "wait"})
      all.push_back({name, "us", side});
  }
  return all;
}

}  // namespace

bool computes(computing who, bool sends) noexcept {
  return who == computing::both || (who == computing::sender) == sends;
}

bool is_round_trip(operation op) {
  return op == operation::get || op == operation::fetch_add;
}

int lane_index(const spec& s, int thread) {
  return s.lanes == 0 || s.lanes >= s.threads ? thread : thread * s.lanes / s.threads;
}

std::vector<metric> metrics_of(const spec& s) {
  switch (s.what) {
    case kind::latency:
      return {{is_round_trip(s.op) ? "round-trip" : "one-way", "us"}};
    case kind::rate:
      return {{"rate", "M/s"}};
    case kind::bandwidth:
      return {{"bandwidth", "GB/s"}};
    case kind::overlap:
      return overlap_metrics(s.who);
    case kind::overhead:
      return {{"latency_mean", "us", {}, true},
              {"overhead_mean", "us", {}, true},
              {"rate_mean", "M/s", {}, true}};
    case kind::gups:
      return {{"updates", "GUP/s"}, {"lost_updates", "1"}};
  }
  throw std::logic_error("a kind is missing in metrics_of");
}

double figure(const spec& s, double seconds) {
  if (s.what == kind::latency) return seconds * 1e6;
  return s.what == kind::rate ? 1e-6 / seconds : static_cast<double>(s.bytes) / seconds * 1e-9;
}

std::string setup_of(const spec& s) {
  std::vector<std::string> parts;
  const bool streams = s.what == kind::rate || s.what == kind::bandwidth;
  if (s.lanes > 0) parts.push_back(fmt::format("{} lane(s)", s.lanes));
  if (s.lock_lanes) parts.emplace_back("a lock per lane");
  if (streams || s.what == kind::gups) parts.push_back(fmt::format("{} in flight", s.window));
  if (s.what == kind::overlap)
    parts.push_back(fmt::format("computing {} us ({})", s.compute_us, name_of(s.who)));
  if (streams || s.what == kind::latency) parts.push_back(name_of(s.buffers) + " buffers");
  if (s.target == target_mode::computing) parts.emplace_back("target computing");
  if (s.what == kind::gups) parts.push_back(fmt::format("{} B of memory", s.memory_bytes));
  if (s.full) parts.emplace_back("full");
  if (s.beside_bytes > 0) parts.push_back(fmt::format("beside copies of {} B", s.beside_bytes));
  return fmt::format("{}", fmt::join(parts, ", "));
}

int most_threads(const options& o) {
  return *std::max_element(o.thread_counts.begin(), o.thread_counts.end());
}

std::vector<int> cores_of_rank(const std::vector<int>& allowed, int rank, int ranks, int threads) {
  const auto total = allowed.size(), share = total / static_cast<std::size_t>(ranks);
  const auto count = std::clamp(static_cast<std::size_t>(threads), std::size_t{1},
                                std::max(share, std::size_t{1}));
  std::vector<int> cores;
  for (std::size_t i = 0; i < count; ++i)
    cores.push_back(allowed[(static_cast<std::size_t>(rank) * count + i) % total]);
  return cores;
}

}  // namespace heddle::bench
