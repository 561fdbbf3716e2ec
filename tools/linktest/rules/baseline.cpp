// SPDX-License-Identifier: BSD-3-Clause
// baseline.cpp - reading results back and comparing.
#include "linktest/rules/baseline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heddle/status.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "exit_status.h"
#include "linktest/layer.h"
#include "linktest/results/reading.h"
#include "linktest/results/section_list.h"

namespace heddle::linktest {
namespace {

float or_median(float bound, const sketch& of) {
  return std::isnan(bound) ? of.median : bound;
}

broken_rule slower_at(std::size_t size, const baseline& before, const results& now,
                      double tolerance) {
  broken_rule out;
  out.rule = slower_rule;
  out.bytes = now.sizes()[size];
  double worst = 1;
  now.for_known(size, [&](int a, int b, const pair_record& one) {
    const sketch &old = before.all.at(size, a, b).time, &fresh = one.time;
    const double least = static_cast<double>(or_median(fresh.ci_low, fresh));
    const double most = static_cast<double>(or_median(old.ci_high, old)) * (1 + tolerance);
    if (a == b || std::isnan(least) || std::isnan(most)) return;
    ++out.of;
    if (least <= most) return;
    ++out.pairs;
    if (least / most <= worst) return;
    worst = least / most;
    out.initiator = a;
    out.peer = b;
    out.value = static_cast<double>(fresh.median);
    out.wanted = static_cast<double>(old.median);
  });
  return out;
}

/// The same wires may have been chosen in two ways.
bool over_another_layer(const baseline& before, const run_facts& now) {
  const std::string& layer_now = now.chosen.layer;
  if (before.routes.empty() || now.routes.empty() || before.layer == layer_now) return false;
  return before.routes != now.routes ||
         layer_named(before.layer).rail != layer_named(layer_now).rail;
}

}  // namespace

std::string traffic_of(const options& chosen) {
  if (chosen.kernel == kernel::unknown || chosen.op == operation::unknown) return {};
  return fmt::format("--kernel {} --op {}", name_of(chosen.kernel), name_of(chosen.op));
}

baseline read_baseline(const std::string& path) {
  try {
    run_record before = read_results(path);
    return {std::move(before.all), std::move(before.facts.hosts), traffic_of(before.facts.chosen),
            before.facts.chosen.layer, std::move(before.facts.routes)};
  } catch (const std::exception& problem) {
    throw tools::usage_error(
        fmt::format("--baseline {}; give the linktest.json of an earlier run", problem.what()));
  }
}

void prove_baseline(const std::string& path) {
  const std::filesystem::path place(path);
  const std::string run = place.parent_path().string(), name = place.filename().string();
  if (std::filesystem::exists(place) || !std::filesystem::is_directory(run)) return;
  const std::vector<std::string> there = sections_in(run);
  if (there.empty()) return;
  throw tools::usage_error(
      fmt::format("--baseline {}: that run has no section {}, but {}: give its --layers, --kernel, "
                  "--op and --mode, or another baseline",
                  run, name, fmt::join(there, ", ")));
}

std::string incomparable(const baseline& before, const results& now, const run_facts& facts_now) {
  if (before.all.ranks() != now.ranks())
    return fmt::format("it has {} ranks and this run {}", before.all.ranks(), now.ranks());
  if (before.all.sizes() != now.sizes()) return "it has other message sizes: give the same --sizes";
  if (before.traffic.empty())
    return "its file does not say by what kernel and op it was measured: give its linktest.json";
  if (before.traffic != traffic_of(facts_now.chosen))
    return fmt::format("it was measured with {}: give that", before.traffic);
  if (before.hosts != facts_now.hosts) return "its ranks were on other hosts";
  if (over_another_layer(before, facts_now))
    return fmt::format("it was measured over {}, and this run over {}: give --layers {}",
                       in_words(before.layer, before.routes),
                       in_words(facts_now.chosen.layer, facts_now.routes), before.layer);
  return {};
}

std::vector<broken_rule> slower_than(const baseline& before, const results& now, double tolerance) {
  std::vector<broken_rule> out;
  for (std::size_t s = 0; s < now.sizes().size(); ++s) {
    broken_rule found = slower_at(s, before, now, tolerance);
    if (found.pairs > 0) out.push_back(std::move(found));
  }
  return out;
}

}  // namespace heddle::linktest
