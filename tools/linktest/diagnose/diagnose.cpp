// SPDX-License-Identifier: BSD-3-Clause
// diagnose.cpp - the order of a diagnosis, and what was looked at.
#include "linktest/diagnose/diagnose.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "linktest/diagnose/judge.h"
#include "linktest/diagnose/ladder.h"

namespace heddle::linktest {
namespace {

std::uint64_t different_pairs(std::span<const observation> seen) {
  std::vector<std::uint64_t> pairs;
  pairs.reserve(seen.size());
  for (const observation& o : seen)
    pairs.push_back(static_cast<std::uint64_t>(o.from) << 32 | static_cast<std::uint32_t>(o.to));
  std::sort(pairs.begin(), pairs.end());
  return static_cast<std::uint64_t>(std::unique(pairs.begin(), pairs.end()) - pairs.begin());
}

std::uint64_t different_cables(std::span<const observation> seen, const surroundings& where) {
  if (!where.route) return 0;
  std::vector<bool> crossed(where.all_cables, false);
  std::vector<std::uint32_t> route;
  for (const observation& o : seen) {
    route.clear();
    where.route(o.from, o.to, route);
    for (const std::uint32_t c : route) crossed[c] = true;
  }
  return static_cast<std::uint64_t>(std::count(crossed.begin(), crossed.end(), true));
}

std::uint64_t nodes_told_apart(const additive_model& fit) {
  std::vector<int> nodes;
  for (std::size_t p = 0; p < fit.ports(); ++p)
    if (fit.effect_at(p).partners >= 2) nodes.push_back(fit.port_at(p).node);
  std::sort(nodes.begin(), nodes.end());
  return static_cast<std::uint64_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

coverage looked_at(std::span<const observation> seen, const surroundings& where,
                   const additive_model& fit) {
  coverage out;
  out.pairs = different_pairs(seen);
  const auto n = static_cast<std::uint64_t>(where.nodes);
  out.possible_pairs = n * (n - 1);
  out.nodes = nodes_told_apart(fit);
  out.all_nodes = n;
  out.links = different_cables(seen, where);
  out.all_links = where.route ? where.all_cables : 0;
  return out;
}

/// Without what crosses a cable that is slow itself.
std::vector<observation> beside(std::span<const slow_cable> cables,
                                std::span<const observation> seen, const surroundings& where) {
  std::vector<observation> out;
  std::copy_if(seen.begin(), seen.end(), std::back_inserter(out),
               [&](const observation& o) { return !crosses_any(cables, where, o.from, o.to); });
  return out;
}

/// Everything after the cables.
void accuse(std::span<const observation> seen, std::vector<slow_cable> cables,
            std::span<const observation> all_seen, const surroundings& where, const prober& again,
            diagnosis& out) {
  const additive_model fit(seen, where);
  suspects all = find_suspects(fit, seen, where);
  all.cables = std::move(cables);
  if (all.none()) return;
  if (!again) {
    out.verdicts = believe(all, seen, where, fit.rails());
    return;
  }
  retests book(where, fit, again);
  ladder rungs(seen, all_seen, where, fit.rails(), all, book);
  out.seen.not_retested = rungs.repeat();
  rungs.swap_partners();
  out.seen.retests = book.count();
  out.verdicts = judge(all, {seen, all_seen, where, fit.rails(), book, rungs.nodes()});
}

/// Some contention is in every loaded network, so a few examples are enough.
void keep_few_contentions(diagnosis& d) {
  constexpr std::size_t most = 3;
  std::size_t seen = 0;
  std::erase_if(d.verdicts,
                [&](const verdict& v) { return v.what == culprit::contention && ++seen > most; });
  d.seen.more_contention = seen > most ? seen - most : 0;
}

}  // namespace

diagnosis diagnose(std::span<const observation> seen, const surroundings& where,
                   const prober& again) {
  diagnosis out;
  std::vector<slow_cable> cables;
  {
    const additive_model fit(seen, where);
    out.seen = looked_at(seen, where, fit);
    cables = find_slow_cables(fit, seen, where);
  }
  const std::vector<observation> rest =
      cables.empty() ? std::vector<observation>{} : beside(cables, seen, where);
  accuse(cables.empty() ? seen : std::span(rest), cables, seen, where, again, out);
  keep_few_contentions(out);
  return out;
}

}  // namespace heddle::linktest
