// SPDX-License-Identifier: BSD-3-Clause
// of_results.cpp - matrices to observations, sizes to one diagnosis.
#include "linktest/diagnose/of_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linktest/layer.h"
#include "linktest/results/pair_class.h"

namespace heddle::linktest {
namespace {

std::uint8_t kind_of(const run_setting& run, int a, int b) {
  return static_cast<std::uint8_t>(class_of(run.facts, a, b));
}

surroundings around(const results& all, const run_setting& run) {
  surroundings out;
  out.nodes = all.ranks();
  out.hosts = static_cast<int>(each_host(run.facts.hosts).size());
  out.one_way = run.facts.chosen.kernel == kernel::uni;
  out.kind_of = [&run](int a, int b) { return kind_of(run, a, b); };
  out.on_one_host = [](std::uint8_t kind) {
    return linktest::on_one_host(static_cast<pair_class>(kind));
  };
  out.left_out = run.left_out;
  out.judge_by(run.facts.chosen.search.slow);
  return out;
}

bool same_part(const verdict& a, const verdict& b) {
  return a.what == b.what && a.node == b.node && a.peer == b.peer && a.rail == b.rail;
}

void add(diagnosis& to, diagnosis from, std::uint64_t bytes) {
  for (verdict& v : from.verdicts) {
    v.evidence = fmt::format("Messages of {}. ", format_size(bytes)) + v.evidence;
    const auto known = std::find_if(to.verdicts.begin(), to.verdicts.end(),
                                    [&v](const verdict& other) { return same_part(v, other); });
    if (known == to.verdicts.end())
      to.verdicts.push_back(std::move(v));
    else if (known->factor < v.factor)
      *known = std::move(v);
  }
  to.seen.pairs = std::max(to.seen.pairs, from.seen.pairs);
  to.seen.possible_pairs = from.seen.possible_pairs;
  to.seen.nodes = std::max(to.seen.nodes, from.seen.nodes);
  to.seen.all_nodes = from.seen.all_nodes;
  to.seen.retests += from.seen.retests;
  to.seen.more_contention += from.seen.more_contention;
  to.seen.not_retested += from.seen.not_retested;
}

}  // namespace

std::vector<observation> observations_of(const results& all, std::size_t size_index,
                                         const run_setting& run) {
  std::vector<observation> out;
  out.reserve(run.steps.ordered_pairs());
  for (int from = 0; from < all.ranks(); ++from) {
    for (std::int64_t step = 0; step < run.steps.steps(); ++step) {
      const auto to = static_cast<int>(run.steps.partner(from, 0, step));
      if (to == schedule::idle || run.left_out.contains(from) || run.left_out.contains(to))
        continue;
      const sketch& time = all.at(size_index, from, to).time;
      if (!(time.median > 0)) continue;
      observation o;
      o.from = run.facts.chosen.initiator_receives() ? to : from;
      o.to = run.facts.chosen.initiator_receives() ? from : to;
      o.isolated = run.facts.chosen.mode == run_mode::serial;
      o.step = o.isolated ? -1 : static_cast<std::int32_t>(step);
      o.seconds = time.median;
      const float spread = (time.ci_high - time.ci_low) / 2 / time.median;
      o.uncertainty = std::isnan(spread) ? 0 : spread;
      o.kind = kind_of(run, from, to);
      out.push_back(o);
    }
  }
  return out;
}

diagnosis diagnose_results(const results& all, const run_setting& run, const sized_prober& again) {
  diagnosis out;
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    const std::uint64_t bytes = all.sizes()[s];
    prober of_size;
    if (again) of_size = [&](std::span<const probe> wanted) { return again(wanted, bytes); };
    add(out, diagnose(observations_of(all, s, run), around(all, run), of_size), bytes);
  }
  const int rail = layer_named(run.facts.chosen.layer).rail;
  for (verdict& v : out.verdicts) v.rail = rail;
  std::stable_sort(
      out.verdicts.begin(), out.verdicts.end(), [](const verdict& a, const verdict& b) {
        const bool last_a = a.what == culprit::contention, last_b = b.what == culprit::contention;
        return last_a != last_b ? last_b : a.factor > b.factor;
      });
  return out;
}

}  // namespace heddle::linktest
