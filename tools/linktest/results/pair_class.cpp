// SPDX-License-Identifier: BSD-3-Clause
// pair_class.cpp - classes of pairs, and figures that stay within them.
#include "linktest/results/pair_class.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace heddle::linktest {
namespace {

/// Calls `each(initiator, peer, class, median time)` for all ordered pairs that have one.
template <class Each>
void for_pairs(const run_facts& facts, const results& all, std::size_t size_index,
               const Each& each) {
  all.for_known(size_index, [&](int r, int p, const pair_record& one) {
    const double time = one.time.median;
    if (r != p && !std::isnan(time)) each(r, p, class_of(facts, r, p), time);
  });
}

using by_class = std::array<std::vector<double>, std::size(all_classes)>;

by_class times_of(const run_facts& facts, const results& all, std::size_t size_index) {
  by_class out;
  for_pairs(facts, all, size_index, [&](int, int, pair_class c, double time) {
    out[static_cast<std::size_t>(c)].push_back(time);
  });
  return out;
}

}  // namespace

std::string_view name_of(const run_facts& facts, pair_class c) noexcept {
  constexpr std::array<std::string_view, std::size(all_classes)> names{
      "same core", "same core complex", "same socket", "same host", "same group", "other group"};
  if (facts.groups.empty() && c == pair_class::network) return "other host";
  return names[static_cast<std::size_t>(c)];
}

std::string_view word_of(pair_class c) noexcept {
  constexpr std::array<std::string_view, std::size(all_classes)> words{
      "core", "complex", "socket", "host", "group", "network"};
  return words[static_cast<std::size_t>(c)];
}

pair_class class_of(const run_facts& facts, int a, int b) {
  const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
  if (facts.hosts[i] != facts.hosts[j])
    return !facts.groups.empty() && facts.groups[i] == facts.groups[j] ? pair_class::group
                                                                       : pair_class::network;
  if (facts.places.size() <= std::max(i, j)) return pair_class::host;
  const rank_place &here = facts.places[i], &there = facts.places[j];
  if (here.cores.size() == 1 && here.cores == there.cores) return pair_class::core;
  if (here.complex >= 0 && here.complex == there.complex) return pair_class::complex;
  if (here.socket >= 0 && here.socket == there.socket) return pair_class::socket;
  return pair_class::host;
}

std::vector<class_figures> figures_by_class(const run_facts& facts, const results& all,
                                            std::size_t size_index) {
  const by_class times = times_of(facts, all, size_index);
  const std::uint64_t bytes = all.sizes()[size_index];
  const auto rate = [&](double time) { return bytes_per_second(facts.chosen.kernel, bytes, time); };
  std::vector<class_figures> out;
  for (const pair_class c : all_classes) {
    const auto& values = times[static_cast<std::size_t>(c)];
    if (values.empty()) continue;
    const spread time = spread_of(values);
    std::vector<double> rates;
    for (const double t : values) rates.push_back(rate(t));
    out.push_back({c, values.size(), time, spread_of(rates)});
  }
  return out;
}

std::vector<slow_pair> slowest_in_class(const run_facts& facts, const results& all,
                                        std::size_t size_index, std::size_t count) {
  const by_class times = times_of(facts, all, size_index);
  std::array<double, std::size(all_classes)> usual{};
  for (std::size_t c = 0; c < usual.size(); ++c) usual[c] = spread_of(times[c]).median;
  std::vector<slow_pair> found;
  for_pairs(facts, all, size_index, [&](int r, int p, pair_class c, double time) {
    const double factor = time / usual[static_cast<std::size_t>(c)];
    if (factor > 1)
      found.push_back({r, p, time,
                       bytes_per_second(facts.chosen.kernel, all.sizes()[size_index], time),
                       factor});
  });
  const auto kept = static_cast<std::ptrdiff_t>(std::min(count, found.size()));
  std::partial_sort(
      found.begin(), found.begin() + kept, found.end(),
      [](const slow_pair& a, const slow_pair& b) { return a.times_median > b.times_median; });
  found.resize(static_cast<std::size_t>(kept));
  return found;
}

std::vector<double> host_matrix(const run_facts& facts, const results& all,
                                const std::vector<std::string>& hosts, std::size_t size_index,
                                metric m) {
  std::map<std::string, std::size_t> number;
  for (const std::string& host : hosts) number.emplace(host, number.size());
  std::vector<std::size_t> of_rank;
  for (const std::string& host : facts.hosts) of_rank.push_back(number[host]);
  std::vector<std::vector<double>> values(hosts.size() * hosts.size());
  all.for_known(size_index, [&](int r, int p, const pair_record& one) {
    values[of_rank[static_cast<std::size_t>(r)] * hosts.size() +
           of_rank[static_cast<std::size_t>(p)]]
        .push_back(all.value_of(size_index, one, m));
  });
  std::vector<double> out;
  for (const auto& of_pair : values) out.push_back(spread_of(of_pair).median);
  return out;
}

}  // namespace heddle::linktest
