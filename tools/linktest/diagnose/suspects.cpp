// SPDX-License-Identifier: BSD-3-Clause
// suspects.cpp - tests of all ports and pairs.
#include "linktest/diagnose/suspects.h"

#include <algorithm>
#include <cmath>

#include "linktest/diagnose/robust.h"

namespace heddle::linktest {
namespace {

constexpr double false_share = 0.01;
constexpr std::size_t most_examples = 6;

double threshold(const surroundings& where) {
  return std::log(where.least_factor);
}

std::vector<slow_port> unlikely_ports(const additive_model& fit, double least) {
  std::vector<slow_port> out;
  for (std::size_t p = 0; p < fit.ports(); ++p) {
    const port_effect& e = fit.effect_at(p);
    if (e.partners < 2 || e.excess < least) continue;
    const double chance = chance_above(e.excess / e.sigma);
    if (chance >= false_share) continue;
    out.push_back({fit.port_at(p), std::exp(e.excess), chance, {}});
    const auto all = fit.observations_of(p);
    out.back().examples.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(
                                                              std::min(all.size(), most_examples)));
  }
  return out;
}

std::vector<slow_pair_seen> unlikely_pairs(const additive_model& fit, std::size_t observations,
                                           double least) {
  std::vector<slow_pair_seen> out;
  for (std::size_t i = 0; i < observations; ++i) {
    const double excess = fit.residual(i);
    if (excess < least) continue;
    const double chance = chance_above(excess / fit.sigma(i));
    if (chance < false_share)
      out.push_back({static_cast<std::uint32_t>(i), std::exp(excess), chance});
  }
  return out;
}

template <class Suspect>
void keep_discoveries(std::vector<Suspect>& all, std::size_t tests) {
  std::vector<double> chances;
  for (const Suspect& s : all) chances.push_back(s.chance);
  const double limit = discovery_limit(chances, tests, false_share);
  std::erase_if(all, [limit](const Suspect& s) { return s.chance > limit; });
  std::sort(all.begin(), all.end(), [](const Suspect& a, const Suspect& b) {
    return a.chance != b.chance ? a.chance < b.chance : a.factor > b.factor;
  });
}

}  // namespace

suspects find_suspects(const additive_model& fit, std::span<const observation> seen,
                       const surroundings& where) {
  suspects out;
  out.ports = unlikely_ports(fit, threshold(where));
  out.pairs = unlikely_pairs(fit, seen.size(), threshold(where));
  const std::size_t tests = fit.ports() + seen.size();
  keep_discoveries(out.ports, tests);
  keep_discoveries(out.pairs, tests);
  return out;
}

}  // namespace heddle::linktest
