// SPDX-License-Identifier: BSD-3-Clause
// ladder.cpp - rungs: repeat; swap partners and rails.
#include "linktest/diagnose/ladder.h"

#include <algorithm>

#include "linktest/plan/permutation.h"

namespace heddle::linktest {
namespace {

bool same_way(const probe& p, const observation& o) {
  return p.from == o.from && p.to == o.to && p.rail == o.rail;
}

}  // namespace

void ladder::add_pair(const observation& o, std::size_t times, std::vector<probe>& out) {
  for (std::size_t i = 0; i < times; ++i) {
    out.push_back({o.from, o.to, o.rail, -1});
    if (!o.isolated && o.step >= 0) out.push_back({o.from, o.to, o.rail, o.step});
  }
}

std::set<std::uint8_t> ladder::kinds_in(std::span<const probe> probes) const {
  std::set<std::uint8_t> kinds;
  for (const probe& p : probes) kinds.insert(book_.kind_of(p));
  return kinds;
}

/// Pairs of the class, spread over all that were seen.
void ladder::add_references(std::uint8_t kind, std::vector<probe>& out) const {
  const permutation anywhere(seen_.size(), kind);
  std::size_t missing = references - std::min(references, book_.references(kind));
  constexpr std::size_t most_looks = 1 << 20;
  for (std::size_t i = 0; i < std::min(seen_.size(), most_looks) && missing > 0; ++i) {
    const observation& o = seen_[anywhere.forward(i)];
    if (o.kind != kind || nodes_.contains(o.from) || nodes_.contains(o.to)) continue;
    out.push_back({o.from, o.to, o.rail, -1});
    --missing;
  }
}

std::size_t ladder::repeat() {
  const std::size_t before = all_.pairs.size() + all_.ports.size();
  const std::size_t most_pairs = pairs_per_suspect * where_.most_suspects;
  if (all_.pairs.size() > most_pairs) all_.pairs.resize(most_pairs);
  if (all_.ports.size() > where_.most_suspects) all_.ports.resize(where_.most_suspects);
  const std::size_t dropped = before - all_.pairs.size() - all_.ports.size();
  collect_nodes();
  std::vector<probe> wanted;
  for (const slow_pair_seen& p : all_.pairs) add_pair(seen_[p.observation], 1, wanted);
  for (const slow_cable& c : all_.cables)
    for (const std::uint32_t i : c.examples) add_pair(all_seen_[i], 1, wanted);
  for (const slow_port& p : all_.ports)
    for (const std::uint32_t i : p.examples) add_pair(seen_[i], 1, wanted);
  for (const std::uint8_t kind : kinds_in(wanted)) add_references(kind, wanted);
  book_.set_suspected(nodes_);
  book_.measure(wanted);
  std::erase_if(all_.pairs, [&](const slow_pair_seen& s) {
    const auto same = [&](const probe& p) { return same_way(p, seen_[s.observation]); };
    return !book_.summarize(false, same).is_slow && !book_.summarize(true, same).is_slow;
  });
  return dropped;
}

void ladder::swap_partners() {
  collect_nodes();
  book_.set_suspected(nodes_);
  std::vector<probe> wanted;
  for (const int node : nodes_) add_around(node, wanted);
  for (const slow_pair_seen& p : all_.pairs) add_pair(seen_[p.observation], 2, wanted);
  // Where nobody is left to be the partner or the reference, the other direction is.
  if (where_.nodes <= 3 && where_.one_way)
    for (const slow_pair_seen& p : all_.pairs) {
      const observation& o = seen_[p.observation];
      wanted.insert(wanted.end(), 3, {o.to, o.from, o.rail, -1});
    }
  for (const std::uint8_t kind : kinds_in(wanted)) add_references(kind, wanted);
  book_.measure(wanted);
}

void ladder::collect_nodes() {
  nodes_.clear();
  const auto add = [&](int node, std::uint8_t kind) {
    if (nodes_.size() >= where_.most_suspects) return;
    nodes_.insert(node);
    kind_.emplace(node, kind);
  };
  for (const slow_port& p : all_.ports) add(p.at.node, seen_[p.examples.front()].kind);
  for (const slow_pair_seen& p : all_.pairs) {
    const observation& o = seen_[p.observation];
    add(o.from, o.kind);
    add(o.to, o.kind);
  }
}

/// Unsuspected nodes, those first with which the node makes a pair of the suspicious class.
std::vector<int> ladder::partners_for(int node) const {
  const permutation anywhere(static_cast<std::uint64_t>(where_.nodes),
                             static_cast<std::uint64_t>(node));
  constexpr int most_looks = 4096;
  std::vector<int> right, others;
  for (int i = 0; i < std::min(where_.nodes, most_looks) && right.size() < partners; ++i) {
    const int met = static_cast<int>(anywhere.forward(static_cast<std::uint64_t>(i)));
    if (met == node || nodes_.contains(met) || where_.left_out.contains(met) ||
        crosses_any(all_.cables, where_, node, met) || crosses_any(all_.cables, where_, met, node))
      continue;
    const bool wanted = book_.kind_of({node, met}) == kind_.at(node);
    (wanted ? right : others).push_back(met);
  }
  const std::size_t missing = std::min(partners - right.size(), others.size());
  right.insert(right.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(missing));
  for (std::size_t i = 0; !right.empty() && right.size() < partners; ++i) right.push_back(right[i]);
  return right;
}

void ladder::add_around(int node, std::vector<probe>& out) const {
  for (const int partner : partners_for(node)) {
    for (int rail = 0; rail < rails_; ++rail) {
      const int over = rails_ > 1 ? rail : -1;
      out.push_back({node, partner, over, -1});
      out.push_back({partner, node, over, -1});
    }
  }
}

}  // namespace heddle::linktest
