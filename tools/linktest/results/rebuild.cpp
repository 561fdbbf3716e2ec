// SPDX-License-Identifier: BSD-3-Clause
// rebuild.cpp - each pair's sketch from one matrix, or list, per part of it.
#include "linktest/results/rebuild.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <utility>

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

struct placed {
  int initiator;
  row_record entry;
};

/// Whom entry `i` is about.
std::pair<int, int> pair_at(const std::vector<std::pair<int, int>>& listed, std::size_t i,
                            std::size_t ranks) {
  return listed.empty() ? std::pair{static_cast<int>(i / ranks), static_cast<int>(i % ranks)}
                        : listed[i];
}

/// The entries of a size of which something is known.
std::vector<placed> entries_of(const value_source& source, std::size_t size_index,
                               std::size_t ranks) {
  const std::vector<pair_state> states = source.states(size_index);
  std::vector<std::pair<int, int>> listed;
  if (source.pairs) listed = source.pairs(size_index);
  if (states.size() != (source.pairs ? listed.size() : ranks * ranks))
    throw error("it has not a state for every pair");
  std::vector<placed> out;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i] == pair_state::unmeasured) continue;
    const auto [initiator, peer] = pair_at(listed, i, ranks);
    if (initiator < 0 || static_cast<std::size_t>(initiator) >= ranks)
      throw error(fmt::format("it has a pair of rank {}, which is not there", initiator));
    out.push_back({initiator, {peer, static_cast<std::uint32_t>(size_index), {{}, states[i], {}}}});
  }
  for (const metric m : all_metrics) {
    if (m == metric::bandwidth) continue;
    const std::vector<double> values = source.values(size_index, m);
    if (values.size() != states.size())
      throw error(fmt::format("it has not a {} for every pair", name_of(m)));
    auto entry = out.begin();
    for (std::size_t i = 0; i < states.size(); ++i)
      if (states[i] != pair_state::unmeasured) set((entry++)->entry.known.time, m, values[i]);
  }
  return out;
}

auto order_of(const row_record& one) {
  return std::pair(one.peer, one.size_index);
}

}  // namespace

results rebuild(const run_facts& facts, const value_source& source) {
  const std::size_t ranks = facts.hosts.size(), sizes = facts.chosen.sizes.size();
  if (ranks < 2 || sizes == 0) throw error("it has no two ranks, or no message size");
  std::vector<std::vector<row_record>> rows(ranks);
  for (std::size_t s = 0; s < sizes; ++s)
    for (const placed& one : entries_of(source, s, ranks))
      rows[static_cast<std::size_t>(one.initiator)].push_back(one.entry);
  results all(static_cast<int>(ranks), facts.chosen.kernel, facts.chosen.sizes);
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto before = [](const row_record& a, const row_record& b) {
      return order_of(a) < order_of(b);
    };
    std::sort(rows[r].begin(), rows[r].end(), before);
    const bool twice = std::adjacent_find(rows[r].begin(), rows[r].end(),
                                          [](const row_record& a, const row_record& b) {
                                            return order_of(a) == order_of(b);
                                          }) != rows[r].end();
    if (twice || !all.set_row(static_cast<int>(r), rows[r]))
      throw error(fmt::format("rank {} has a peer twice, or one that is not there", r));
  }
  if (source.sample) all.set_sample(*source.sample);
  return all;
}

}  // namespace heddle::linktest
