// SPDX-License-Identifier: BSD-3-Clause
// slow_cables.cpp - a greedy cover of the slow observations by cables.
#include "linktest/diagnose/slow_cables.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>

#include "linktest/diagnose/robust.h"

namespace heddle::linktest {
namespace {

constexpr double unlikely = 1e-3;  // for one observation; a cable needs many
constexpr std::size_t least_slow = 4, most_examples = 6;
constexpr double least_share = 0.6, most_of_one_node = 0.5;

class cable_cover {
 public:
  cable_cover(const additive_model& fit, std::span<const observation> seen,
              const surroundings& where)
      : fit_(fit), seen_(seen), where_(where) {
    find_slow();
    count();
  }

  std::vector<slow_cable> run() {
    std::vector<slow_cable> found;
    while (auto next = strongest()) {
      if (explain(*next)) found.push_back(std::move(*next));
    }
    return found;
  }

 private:
  struct counts {
    std::uint32_t slow = 0, all = 0;
  };

  const std::vector<std::uint32_t>& route_of(const observation& o) {
    route_.clear();
    where_.route(o.from, o.to, route_);
    return route_;
  }

  void find_slow() {
    const double least = std::log(where_.least_factor);
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const double excess = fit_.class_excess(i);
      if (excess >= least && chance_above(excess / fit_.sigma(i)) < unlikely)
        slow_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  void count() {
    if (slow_.empty()) return;
    for (const std::uint32_t i : slow_)
      for (const std::uint32_t c : route_of(seen_[i])) ++counts_[c].slow;
    for (const observation& o : seen_)
      for (const std::uint32_t c : route_of(o))
        if (const auto known = counts_.find(c); known != counts_.end()) ++known->second.all;
    std::erase_if(counts_, [](const row& r) { return !suspicious(r.second); });
  }

  [[nodiscard]] static bool suspicious(const counts& n) noexcept {
    return n.slow >= least_slow && n.slow >= least_share * n.all;
  }
  using row = std::pair<const std::uint32_t, counts>;
  static bool stronger(const row& a, const row& b) noexcept {
    if (a.second.slow != b.second.slow) return a.second.slow > b.second.slow;
    if (a.second.all != b.second.all) return a.second.all < b.second.all;
    return a.first < b.first;
  }

  std::optional<slow_cable> strongest() const {
    const row* best = nullptr;
    for (const row& r : counts_)
      if (suspicious(r.second) && (best == nullptr || stronger(r, *best))) best = &r;
    if (best == nullptr) return std::nullopt;
    slow_cable out;
    out.cable = best->first;
    out.slow = best->second.slow;
    out.crossed = best->second.all;
    return out;
  }

  /// Fills in the cable from the slow observations that cross it and takes them away from the
  /// others. False: one node is an end of most of them; then only the cable is taken away.
  bool explain(slow_cable& by) {
    std::vector<std::uint32_t> across;
    std::map<std::int32_t, std::size_t> ends;
    std::size_t most = 0;
    for (const std::uint32_t i : slow_) {
      const auto& route = route_of(seen_[i]);
      if (std::find(route.begin(), route.end(), by.cable) == route.end()) continue;
      across.push_back(i);
      most = std::max({most, ++ends[seen_[i].from], ++ends[seen_[i].to]});
    }
    const bool many =
        static_cast<double>(most) <= most_of_one_node * static_cast<double>(across.size());
    if (many) take_away(across, by);
    counts_.erase(by.cable);
    return many;
  }

  void take_away(const std::vector<std::uint32_t>& across, slow_cable& by) {
    std::map<std::uint32_t, std::uint32_t> shared;
    std::vector<float> factors;
    for (const std::uint32_t i : across) {
      const double excess = fit_.class_excess(i);
      factors.push_back(static_cast<float>(std::exp(excess)));
      by.chance = std::min(by.chance, chance_above(excess / fit_.sigma(i)));
      if (by.examples.size() < most_examples) by.examples.push_back(i);
      for (const std::uint32_t c : route_of(seen_[i])) {
        ++shared[c];
        if (const auto known = counts_.find(c); known != counts_.end()) --known->second.slow;
      }
    }
    by.factor = static_cast<double>(low_median(factors));
    for (const auto& [cable, n] : shared)
      if (cable != by.cable && n == by.slow && counts_.contains(cable) &&
          counts_.at(cable).all == by.crossed)
        by.twins.push_back(cable);
    std::vector<std::uint32_t> rest;
    std::set_difference(slow_.begin(), slow_.end(), across.begin(), across.end(),
                        std::back_inserter(rest));
    slow_ = std::move(rest);
  }

  const additive_model& fit_;
  std::span<const observation> seen_;
  const surroundings& where_;
  std::vector<std::uint32_t> slow_;  // observations that nothing explains yet, ascending
  std::unordered_map<std::uint32_t, counts> counts_;
  std::vector<std::uint32_t> route_;
};

}  // namespace

std::vector<slow_cable> find_slow_cables(const additive_model& fit,
                                         std::span<const observation> seen,
                                         const surroundings& where) {
  return where.route ? cable_cover(fit, seen, where).run() : std::vector<slow_cable>{};
}

bool crosses_any(std::span<const slow_cable> cables, const surroundings& where, int from, int to) {
  if (cables.empty()) return false;
  std::vector<std::uint32_t> route;
  where.route(from, to, route);
  return std::any_of(cables.begin(), cables.end(), [&](const slow_cable& c) {
    return std::find(route.begin(), route.end(), c.cable) != route.end();
  });
}

}  // namespace heddle::linktest
