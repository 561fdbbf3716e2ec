// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/impact.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace heddle::linktest {
namespace {

impact_of_figure impact_of(const results& alone, const results& loaded, std::size_t size_index,
                           metric m) {
  impact_of_figure out;
  double with = 0, without = 0, worst = 0;
  for (int from = 0; from < alone.ranks(); ++from) {
    for (int to = 0; to < alone.ranks(); ++to) {
      const double before = alone.value(size_index, from, to, m);
      const double after = loaded.value(size_index, from, to, m);
      const bool known = before > 0 && after > 0;
      out.factors.push_back(known ? after / before : std::numeric_limits<double>::quiet_NaN());
      if (!known) continue;
      with += after;
      without += before;
      if (after / before <= worst) continue;
      worst = after / before;
      out.worst_from = from;
      out.worst_to = to;
    }
  }
  out.over_pairs = spread_of(out.factors);
  out.overall = with / without;
  return out;
}

std::string line(std::string_view name, const impact_of_figure& of,
                 const std::vector<std::string>& hosts) {
  if (of.worst_from < 0) return fmt::format("  {:<5} no pair was measured both ways\n", name);
  return fmt::format(
      "  {:<5} overall {:.2f} x; pairs {:.2f} to {:.2f}, median {:.2f}; worst rank {} "
      "({}) -> rank {} ({})\n",
      name, of.overall, of.over_pairs.min, of.over_pairs.max, of.over_pairs.median, of.worst_from,
      hosts[static_cast<std::size_t>(of.worst_from)], of.worst_to,
      hosts[static_cast<std::size_t>(of.worst_to)]);
}

}  // namespace

std::vector<impact> impact_of(const results& alone, const results& loaded) {
  std::vector<impact> out;
  for (std::size_t s = 0; s < alone.sizes().size(); ++s)
    out.push_back({alone.sizes()[s], impact_of(alone, loaded, s, metric::time_mean),
                   impact_of(alone, loaded, s, metric::time_p99)});
  return out;
}

std::string in_words(const std::vector<impact>& all, const std::vector<std::string>& hosts) {
  std::string out;
  for (const impact& one : all)
    out += fmt::format("Impact of all pairs of a step at once, {}, in times as long as alone\n",
                       format_size(one.bytes)) +
           line("mean", one.mean, hosts) + line("p99", one.p99, hosts);
  return out;
}

}  // namespace heddle::linktest
