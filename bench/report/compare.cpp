// SPDX-License-Identifier: BSD-3-Clause
// compare.cpp - pairing records, and the rank sums of their rounds.
#include "report/compare.h"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <tuple>

namespace heddle::bench {
namespace {

auto identity(const record& r) {
  return std::tie(r.benchmark, r.op, r.backend, r.library, r.ranks, r.threads, r.bytes, r.metric,
                  r.unit, r.setup);
}

bool is_time(const record& r) {
  return r.unit == "us" || r.unit == "ns" || r.unit == "s";
}

bool is_judged(const record& r) {
  return r.library == "heddle" && (is_time(r) || r.unit.ends_with("/s"));
}

change changed(const record& before, const record& after, const thresholds& when) {
  change c{.before = before, .after = after};
  c.probability = rank_sum_probability(before.rounds, after.rounds);
  if (before.median <= 0 || c.probability > when.probability) return c;
  const double share = after.median / before.median - 1;
  if (std::abs(share) < when.share) return c;
  c.what = (share > 0) == is_time(after) ? verdict::worse : verdict::better;
  return c;
}

const char* name_of(verdict what) {
  return what == verdict::same ? "same" : what == verdict::better ? "better" : "worse";
}

std::string line_of(const change& c) {
  const record& r = c.after;
  return fmt::format("{:<7}{:<44}{:>12.4g}{:>12.4g} {:<6}{:>+9.1f} %{:>10.4f}  {}\n",
                     name_of(c.what),
                     fmt::format("{} {} {} {} B T={} {}", r.benchmark, r.op, r.backend, r.bytes,
                                 r.threads, r.metric),
                     c.before.median, r.median, r.unit, (r.median / c.before.median - 1) * 100,
                     c.probability, r.setup);
}

}  // namespace

std::vector<change> compare(const std::vector<record>& before, const std::vector<record>& after,
                            const thresholds& when) {
  std::vector<change> changes;
  std::vector<bool> paired(before.size());
  for (const record& now : after) {
    if (!is_judged(now)) continue;
    std::size_t then = 0;
    while (then < before.size() && (paired[then] || identity(before[then]) != identity(now)))
      ++then;
    if (then == before.size()) continue;
    paired[then] = true;
    changes.push_back(changed(before[then], now, when));
  }
  return changes;
}

std::string compare_table(const std::vector<change>& changes, bool all) {
  std::string text = fmt::format("{:<7}{:<44}{:>12}{:>12} {:<6}{:>11}{:>10}\n", "", "figure",
                                 "before", "after", "", "change", "chance");
  std::size_t same = 0;
  for (const change& c : changes) {
    if (c.what == verdict::same) ++same;
    if (all || c.what != verdict::same) text += line_of(c);
  }
  return text +
         fmt::format("{} of {} figures are the same within the noise\n", same, changes.size());
}

}  // namespace heddle::bench
