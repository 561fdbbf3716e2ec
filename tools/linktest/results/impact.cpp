// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/impact.h"

#include <fmt/format.h>

#include <limits>

#include "linktest/results/time_order.h"

namespace heddle::linktest {
namespace {

/// Calls `each(initiator, peer, alone, loaded)` with a figure of all pairs that have it both ways.
template <class Each>
void for_both(const results& alone, const results& loaded, std::size_t size_index, metric m,
              const Each& each) {
  alone.for_known(size_index, [&](int from, int to, const pair_record& one) {
    const double before = alone.value_of(size_index, one, m);
    const double after = loaded.value(size_index, from, to, m);
    if (before > 0 && after > 0) each(from, to, before, after);
  });
}

impact_of_figure impact_of(const results& alone, const results& loaded, std::size_t size_index,
                           metric m) {
  impact_of_figure out;
  double with = 0, without = 0, worst = 0;
  const auto n = static_cast<std::size_t>(alone.ranks());
  const bool matrix = !alone.pairs_listed(), list = !matrix && n <= most_ranks_of_matrices;
  if (matrix) out.factors.assign(n * n, std::numeric_limits<double>::quiet_NaN());
  for_both(alone, loaded, size_index, m, [&](int from, int to, double before, double after) {
    with += after;
    without += before;
    const double factor = after / before;
    if (matrix)
      out.factors[static_cast<std::size_t>(from) * n + static_cast<std::size_t>(to)] = factor;
    if (list) {
      out.initiators.push_back(from);
      out.peers.push_back(to);
      out.factors.push_back(factor);
    }
    if (factor <= worst) return;
    worst = factor;
    out.worst_from = from;
    out.worst_to = to;
  });
  const time_order order = time_order::of([&](const auto& look) {
    for_both(alone, loaded, size_index, m, [&look](int, int, double before, double after) {
      look(static_cast<float>(after / before));
    });
  });
  out.over_pairs = order.times();
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
