// SPDX-License-Identifier: BSD-3-Clause
// rebuild.cpp - each pair's sketch from one matrix per part of it.
#include "linktest/results/rebuild.h"

#include <heddle/status.h>

#include <cmath>

namespace heddle::linktest {
namespace {

void set(sketch& into, metric m, double value) noexcept {
  const auto v = static_cast<float>(value);
  switch (m) {
    case metric::time_min:
      into.min = v;
      break;
    case metric::time_median:
      into.median = v;
      break;
    case metric::time_p90:
      into.p90 = v;
      break;
    case metric::time_p99:
      into.p99 = v;
      break;
    case metric::time_max:
      into.max = v;
      break;
    case metric::time_mean:
      into.mean = v;
      break;
    case metric::time_mad:
      into.mad = v;
      break;
    case metric::time_ci_low:
      into.ci_low = v;
      break;
    case metric::time_ci_high:
      into.ci_high = v;
      break;
    case metric::samples:
      into.n = value >= 1 && value < 4294967296.0 ? static_cast<std::uint32_t>(value) : 0;
      break;
    case metric::bandwidth:  // follows from the median
      break;
  }
}

void check_extent(std::size_t entries, std::size_t ranks) {
  if (entries != ranks * ranks) throw error("a matrix has not an entry for every two ranks");
}

}  // namespace

results rebuild(const run_facts& facts, const matrix_source& source) {
  const std::size_t ranks = facts.hosts.size(), sizes = facts.chosen.sizes.size();
  if (ranks < 2 || sizes == 0) throw error("it has no two ranks, or no message size");
  std::vector<std::vector<pair_record>> rows;
  for (std::size_t s = 0; s < sizes; ++s) {
    const std::vector<pair_state> states = source.states(s);
    check_extent(states.size(), ranks);
    rows.resize(ranks, std::vector<pair_record>(ranks * sizes));
    for (std::size_t i = 0; i < states.size(); ++i)
      rows[i / ranks][s * ranks + i % ranks].state = states[i];
    for (const metric m : all_metrics) {
      if (m == metric::bandwidth) continue;
      const std::vector<double> values = source.values(s, m);
      check_extent(values.size(), ranks);
      for (std::size_t i = 0; i < values.size(); ++i)
        set(rows[i / ranks][s * ranks + i % ranks].time, m, values[i]);
    }
  }
  results all(static_cast<int>(ranks), facts.chosen.kernel, facts.chosen.sizes);
  for (std::size_t r = 0; r < ranks; ++r) all.set_row(static_cast<int>(r), rows[r]);
  if (source.sample) all.set_sample(*source.sample);
  return all;
}

}  // namespace heddle::linktest
