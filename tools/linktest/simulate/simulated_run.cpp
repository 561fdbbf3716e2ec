// SPDX-License-Identifier: BSD-3-Clause
// simulated_run.cpp - turns of the plan on the model.
#include "linktest/simulate/simulated_run.h"

#include "linktest/options.h"

namespace heddle::linktest {

simulated_run::simulated_run(fabric where, const simulated_network::how& settings,
                             std::vector<simulated_fault> faults, std::uint64_t sample)
    : settings_(settings),
      plan_(where.hosts(), run_mode::parallel, false, settings.seed, sample),
      network_(where, settings, std::move(faults), [this](std::int64_t host, std::int64_t step) {
        return plan_.partner(static_cast<int>(host), 0, step);
      }) {}

std::vector<observation> simulated_run::measure() {
  std::vector<observation> out;
  const int hosts = network_.where().hosts();
  out.reserve(plan_.ordered_pairs() * static_cast<std::uint64_t>(settings_.rails));
  for (std::int64_t step = 0; step < plan_.steps(); ++step) {
    for (int from = 0; from < hosts; ++from) {
      const auto to = static_cast<int>(plan_.partner(from, 0, step));
      if (to == schedule::idle) continue;
      for (int rail = 0; rail < settings_.rails; ++rail) {
        observation o;
        o.from = from;
        o.to = to;
        o.step = static_cast<std::int32_t>(step);
        o.rail = static_cast<std::int16_t>(settings_.rails > 1 ? rail : -1);
        o.kind = network_.where().distance(from, to);
        o.seconds = static_cast<float>(network_.seconds({from, to, o.rail, o.step}, 0));
        out.push_back(o);
      }
    }
  }
  return out;
}

surroundings simulated_run::around() const {
  const fabric& where = network_.where();
  surroundings out;
  out.nodes = where.hosts();
  out.one_way = settings_.one_way;
  out.kind_of = [&where](int a, int b) { return where.distance(a, b); };
  out.route = [&where](int a, int b, std::vector<std::uint32_t>& cables) {
    where.route(a, b, cables);
  };
  out.cable_name = [&where](std::uint32_t cable) { return where.cable_name(cable); };
  out.all_cables = where.cables();
  if (slow_) out.judge_by(*slow_);
  return out;
}

diagnosis simulated_run::diagnose(const std::vector<observation>& seen) {
  std::uint64_t attempt = 0;
  const prober again = [&](std::span<const probe> wanted) {
    std::vector<float> out;
    for (const probe& p : wanted) out.push_back(static_cast<float>(network_.seconds(p, ++attempt)));
    return out;
  };
  return linktest::diagnose(seen, around(), again);
}

}  // namespace heddle::linktest
