// SPDX-License-Identifier: BSD-3-Clause
// retests.cpp - retests against their reference.
#include "linktest/diagnose/retests.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "linktest/diagnose/robust.h"

namespace heddle::linktest {

retests::retests(const surroundings& where, const additive_model& fit, const prober& again)
    : where_(where), fit_(fit), again_(again) {}

void retests::measure(std::span<const probe> wanted) {
  if (wanted.empty()) return;
  const std::vector<float> seconds = again_(wanted);
  for (std::size_t i = 0; i < std::min(seconds.size(), wanted.size()); ++i)
    if (seconds[i] > 0) done_.push_back({wanted[i], std::log(seconds[i]), kind_of(wanted[i])});
}

std::size_t retests::references(std::uint8_t kind) const {
  return static_cast<std::size_t>(std::count_if(done_.begin(), done_.end(), [&](const result& r) {
    return r.kind == kind && r.what.step < 0 && between_unsuspected(r.what);
  }));
}

/// Where nearly everybody is suspected, the fastest quarter says what is usual.
retests::reference retests::alone_usual(std::uint8_t kind) const {
  constexpr std::size_t enough = 2;
  std::vector<float> healthy, all;
  for (const result& r : done_) {
    if (r.kind != kind || r.what.step >= 0) continue;
    all.push_back(r.log_seconds);
    if (between_unsuspected(r.what)) healthy.push_back(r.log_seconds);
  }
  if (healthy.size() >= enough) {
    const float middle = low_median(healthy);
    return {static_cast<double>(middle), robust_sigma(healthy, middle)};
  }
  if (!all.empty()) return {static_cast<double>(order_statistic(all, 0.25)), 0};
  return {std::log(fit_.usual_s(kind)), 0};
}

retest_summary retests::summarize(bool together, const question& which) const {
  constexpr double noise_z = 3;
  const double slow_from = std::log(1 + 0.8 * (where_.least_factor - 1));
  std::map<std::uint8_t, reference> usual;
  std::vector<float> excess;
  retest_summary out;
  double sigma = 0;
  for (const result& r : done_) {
    if ((r.what.step >= 0) != together || !which(r.what)) continue;
    if (!usual.contains(r.kind))
      usual[r.kind] = together ? reference{std::log(fit_.usual_s(r.kind)), 0} : alone_usual(r.kind);
    const double more = static_cast<double>(r.log_seconds) - usual[r.kind].usual;
    excess.push_back(static_cast<float>(more));
    out.slow += more >= slow_from ? 1 : 0;
    sigma = std::max(sigma, usual[r.kind].sigma);
  }
  out.count = excess.size();
  if (excess.empty()) return out;
  const auto middle = static_cast<double>(low_median(excess));
  out.factor = std::exp(middle);
  const double noise = noise_z * sigma / std::sqrt(static_cast<double>(out.count));
  out.is_slow = middle >= std::max(slow_from, noise) && 4 * out.slow >= 3 * out.count;
  return out;
}

}  // namespace heddle::linktest
