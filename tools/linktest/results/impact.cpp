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
  const auto n = static_cast<std::size_t>(alone.ranks());
  if (alone.ranks() <= most_ranks_of_matrices)
    out.factors.assign(n * n, std::numeric_limits<double>::quiet_NaN());
  std::vector<double> factors;
  alone.for_known(size_index, [&](int from, int to, const pair_record& one) {
    const double before = alone.value_of(size_index, one, m);
    const double after = loaded.value(size_index, from, to, m);
    if (!(before > 0 && after > 0)) return;
    with += after;
    without += before;
    factors.push_back(after / before);
    if (!out.factors.empty())
      out.factors[static_cast<std::size_t>(from) * n + static_cast<std::size_t>(to)] =
          after / before;
    if (after / before <= worst) return;
    worst = after / before;
    out.worst_from = from;
    out.worst_to = to;
  });
  out.over_pairs = spread_of(factors);
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
