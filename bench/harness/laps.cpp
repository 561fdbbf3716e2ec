// SPDX-License-Identifier: BSD-3-Clause
// laps.cpp - the arithmetic that makes figures of Heddle and of its rivals mean the same.
#include "harness/laps.h"

#include <algorithm>

namespace heddle::bench {

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) noexcept {
  return std::chrono::duration<double>(to - from).count();
}

double clock_cost() {
  using clock = std::chrono::steady_clock;
  constexpr int attempts = 10, readings = 100;
  double least = 1;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const clock::time_point begin = clock::now();
    clock::time_point end = begin;
    for (int i = 0; i < readings; ++i) end = clock::now();
    least = std::min(least, seconds_between(begin, end) / readings);
  }
  return least;
}

double elapsed(const std::vector<lap_times>& laps) {
  const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
  const auto by_end = [](const auto& a, const auto& b) { return a.end < b.end; };
  return seconds_between(std::min_element(laps.begin(), laps.end(), by_start)->start,
                         std::max_element(laps.begin(), laps.end(), by_end)->end);
}

double share_of_trip(const spec& s) {
  return s.what == kind::latency && !is_round_trip(s.op) ? 0.5 : 1;
}

double seconds_per_op(const spec& s, const std::vector<lap_times>& laps, std::uint64_t count) {
  const auto n = static_cast<double>(count);
  if (s.what != kind::latency) return elapsed(laps) / (n * static_cast<double>(laps.size()));
  double sum = 0;
  for (const lap_times& lap : laps) sum += seconds_between(lap.start, lap.end);
  return share_of_trip(s) * sum / (n * static_cast<double>(laps.size()));
}

}  // namespace heddle::bench
