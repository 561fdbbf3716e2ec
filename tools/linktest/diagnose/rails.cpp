// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/diagnose/rails.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace heddle::linktest {
namespace {

/// A node, or a link's two ends, and what was found of it over each rail where it is slow.
using parts = std::map<std::pair<int, int>, std::map<int, const verdict*>>;

/// Two-way traffic shows a link from either end.
std::pair<int, int> part_of(const verdict& v, bool one_way) {
  if (v.peer < 0 || one_way || v.node < v.peer) return {v.node, v.peer};
  return {v.peer, v.node};
}

parts slow_parts(std::span<const rail_findings> rails, bool one_way) {
  parts out;
  for (const rail_findings& one : rails) {
    if (!one.slow) continue;
    for (const verdict& v : one.slow->verdicts) {
      if (v.what == culprit::contention) continue;
      const verdict*& known = out[part_of(v, one_way)][one.rail];
      if (known == nullptr || known->factor < v.factor) known = &v;
    }
  }
  return out;
}

std::string named(const std::vector<int>& rails) {
  return fmt::format("{} {}", rails.size() == 1 ? "rail" : "rails", fmt::join(rails, ", "));
}

/// Slow over each rail: what these have in common.
verdict of_all(const std::map<int, const verdict*>& over) {
  const auto slower = [](const auto& a, const auto& b) {
    return a.second->factor < b.second->factor;
  };
  verdict v = *std::max_element(over.begin(), over.end(), slower)->second;
  std::vector<std::string> factors;
  for (const auto& [rail, found] : over) {
    if (found->what != v.what) v.what = culprit::node;
    v.retested = v.retested && found->retested;
    v.confidence = std::min(v.confidence, found->confidence);
    factors.push_back(fmt::format("rail {} {:.2f} times", rail, found->factor));
  }
  v.rail = -1;
  v.evidence = fmt::format("So it is over each rail: {}.", fmt::join(factors, ", "));
  return v;
}

/// Slow over this rail and not over each of them.
verdict of_one(const verdict& found, const std::vector<int>& usual,
               const std::vector<int>& not_judged) {
  verdict v = found;
  if (v.peer < 0) v.what = culprit::rail;
  if (!usual.empty()) v.evidence += fmt::format(" Over {} it is not slow.", named(usual));
  if (!not_judged.empty())
    v.or_else.push_back(fmt::format("{} as a whole, since not all was judged over {}",
                                    v.peer < 0 ? "the node" : "the link", named(not_judged)));
  return v;
}

}  // namespace

std::vector<verdict> verdicts_on_rails(std::span<const rail_findings> rails, bool one_way) {
  std::vector<verdict> out;
  for (const auto& [part, over] : slow_parts(rails, one_way)) {
    if (over.size() == rails.size()) {
      out.push_back(of_all(over));
      continue;
    }
    std::vector<int> usual, not_judged;
    for (const rail_findings& one : rails)
      if (!over.contains(one.rail))
        (one.slow && one.all_judged ? usual : not_judged).push_back(one.rail);
    for (const auto& [rail, found] : over) out.push_back(of_one(*found, usual, not_judged));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const verdict& a, const verdict& b) { return a.factor > b.factor; });
  return out;
}

}  // namespace heddle::linktest
