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

times_by_class times_of(const run_facts& facts, const results& all, std::size_t size_index) {
  return times_by_class([&](const auto& look) {
    for_pairs(facts, all, size_index,
              [&](int, int, pair_class c, double time) { look(c, static_cast<float>(time)); });
  });
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
  const times_by_class times = times_of(facts, all, size_index);
  std::vector<class_figures> out;
  for (const pair_class c : all_classes) {
    const time_order& of_class = times.of(c);
    if (of_class.count() != 0)
      out.push_back({c, of_class.count(), of_class.times(),
                     of_class.rates(facts.chosen.kernel, all.sizes()[size_index])});
  }
  return out;
}

std::vector<slow_pair> slowest_in_class(const run_facts& facts, const results& all,
                                        std::size_t size_index, std::size_t count) {
  const times_by_class times = times_of(facts, all, size_index);
  std::array<double, std::size(all_classes)> usual{};
  for (const pair_class c : all_classes)
    usual[static_cast<std::size_t>(c)] = times.of(c).times().median;
  std::vector<slow_pair> found;  // the worst so far
  for_pairs(facts, all, size_index, [&](int r, int p, pair_class c, double time) {
    const double factor = time / usual[static_cast<std::size_t>(c)];
    const auto place = std::upper_bound(
        found.begin(), found.end(), factor,
        [](double value, const slow_pair& one) { return value > one.times_median; });
    if (!(factor > 1) || (found.size() == count && place == found.end())) return;
    found.insert(
        place,
        {r, p, time, bytes_per_second(facts.chosen.kernel, all.sizes()[size_index], time), factor});
    if (found.size() > count) found.pop_back();
  });
  return found;
}

std::vector<double> host_matrix(const run_facts& facts, const results& all,
                                const std::vector<std::string>& hosts, std::size_t size_index,
                                metric m) {
  std::map<std::string, std::size_t> number;
  for (const std::string& host : hosts) number.emplace(host, number.size());
  std::vector<std::size_t> of_rank;
  for (const std::string& host : facts.hosts) of_rank.push_back(number[host]);
  std::vector<std::vector<int>> ranks(hosts.size());
  for (int r = 0; r < all.ranks(); ++r) ranks[of_rank[static_cast<std::size_t>(r)]].push_back(r);
  std::vector<double> out;
  for (const std::vector<int>& of_host : ranks) {
    std::vector<std::vector<double>> values(hosts.size());
    for (const int initiator : of_host)
      all.for_known_of(size_index, initiator, [&](int, int p, const pair_record& one) {
        values[of_rank[static_cast<std::size_t>(p)]].push_back(all.value_of(size_index, one, m));
      });
    for (const auto& of_pair : values) out.push_back(spread_of(of_pair).median);
  }
  return out;
}

}  // namespace heddle::linktest
