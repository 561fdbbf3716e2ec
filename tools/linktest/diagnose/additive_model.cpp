// SPDX-License-Identifier: BSD-3-Clause
// additive_model.cpp - median polish.
#include "linktest/diagnose/additive_model.h"

#include <algorithm>
#include <cmath>

#include "linktest/diagnose/robust.h"

namespace heddle::linktest {
namespace {

constexpr int passes = 4;
constexpr double least_sigma = 0.01;        // clocks and caches alone make as much
constexpr double sigma_of_median = 1.2533;  // of n normal values, times sigma / sqrt(n)
constexpr double noise_z = 3;               // an excess below so many sigma is taken for noise

/// With few nodes one slow node is in most pairs, and so are the nodes of one slow host with few
/// hosts; then the fast pairs say what is usual.
double usual_share(const surroundings& where) noexcept {
  const int parts = where.hosts > 1 ? where.hosts : where.nodes;
  return parts <= 5 ? 0.25 : 0.5;
}

}  // namespace

additive_model::additive_model(std::span<const observation> seen, const surroundings& where)
    : seen_(seen),
      one_way_(where.one_way),
      scopes_(where.on_one_host ? 2 : 1),
      usual_share_(usual_share(where)),
      nodes_(static_cast<std::size_t>(where.nodes)) {
  for (const observation& o : seen) rails_ = std::max(rails_, o.rail + 1);
  for (std::size_t kind = 0; kind < inside_.size() && scopes_ > 1; ++kind)
    inside_[kind] = where.on_one_host(static_cast<std::uint8_t>(kind));
  logs_.reserve(seen.size());
  for (const observation& o : seen) logs_.push_back(std::log(o.seconds));
  index_observations();
  count_partners();
  for (int pass = 0; pass < passes; ++pass) {
    center_classes();
    polish();
    center_ports();
  }
  measure_noise();
  drop_noise();
  center_classes();
  measure_noise();
}

std::size_t additive_model::port_of(const observation& o, bool sends) const noexcept {
  const auto node = static_cast<std::size_t>(sends ? o.from : o.to);
  const auto rail = static_cast<std::size_t>(std::max<int>(o.rail, 0));
  const std::size_t direction = one_way_ && !sends ? 1 : 0;
  const std::size_t scope = inside_[o.kind] ? 1 : 0;
  return ((direction * scopes_ + scope) * nodes_ + node) * static_cast<std::size_t>(rails_) + rail;
}

port additive_model::port_at(std::size_t index) const noexcept {
  const auto rails = static_cast<std::size_t>(rails_);
  return {static_cast<int>(index / rails % nodes_), static_cast<int>(index % rails),
          index / rails < scopes_ * nodes_};
}

std::span<const std::uint32_t> additive_model::observations_of(
    std::size_t port_index) const noexcept {
  return std::span(of_).subspan(begin_[port_index], begin_[port_index + 1] - begin_[port_index]);
}

/// A counting sort.
void additive_model::index_observations() {
  const std::size_t ports =
      nodes_ * static_cast<std::size_t>(rails_) * scopes_ * (one_way_ ? 2 : 1);
  effects_.resize(ports);
  begin_.assign(ports + 1, 0);
  for (const observation& o : seen_)
    for (const bool sends : {true, false}) ++begin_[port_of(o, sends) + 1];
  for (std::size_t p = 0; p < ports; ++p) begin_[p + 1] += begin_[p];
  of_.resize(2 * seen_.size());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < seen_.size(); ++i)
    for (const bool sends : {true, false})
      of_[next[port_of(seen_[i], sends)]++] = static_cast<std::uint32_t>(i);
}

void additive_model::count_partners() {
  std::vector<int> partners;
  for (std::size_t p = 0; p < effects_.size(); ++p) {
    partners.clear();
    const int self = port_at(p).node;
    for (const std::uint32_t i : observations_of(p))
      partners.push_back(seen_[i].from == self ? seen_[i].to : seen_[i].from);
    effects_[p].observations = static_cast<std::uint32_t>(partners.size());
    std::sort(partners.begin(), partners.end());
    effects_[p].partners = static_cast<std::uint32_t>(
        std::unique(partners.begin(), partners.end()) - partners.begin());
  }
}

/// What is left of each class becomes part of what is usual for it.
void additive_model::center_classes() {
  std::array<std::vector<float>, 256> left;
  for (std::size_t i = 0; i < seen_.size(); ++i)
    left[seen_[i].kind].push_back(static_cast<float>(residual(i) + usual_[seen_[i].kind]));
  for (std::size_t kind = 0; kind < left.size(); ++kind) {
    if (left[kind].empty()) continue;
    known_[kind] = true;
    usual_[kind] = static_cast<double>(order_statistic(left[kind], usual_share_));
  }
}

void additive_model::polish() {
  std::vector<float> left;
  for (std::size_t p = 0; p < effects_.size(); ++p) {
    if (effects_[p].partners < 2) continue;
    left.clear();
    for (const std::uint32_t i : observations_of(p))
      left.push_back(static_cast<float>(residual(i) + effects_[p].excess));
    effects_[p].excess = static_cast<double>(low_median(left));
  }
}

/// Most ports are healthy: they have no excess, and what they share is usual.
void additive_model::center_ports() {
  const std::size_t alike =
      nodes_ * static_cast<std::size_t>(rails_);  // of one scope and direction
  for (std::size_t first = 0; first < effects_.size(); first += alike) {
    std::vector<float> all;
    for (std::size_t p = first; p < first + alike; ++p)
      if (effects_[p].partners >= 2) all.push_back(static_cast<float>(effects_[p].excess));
    if (all.empty()) continue;
    const double shared = static_cast<double>(low_median(all));
    for (std::size_t p = first; p < first + alike; ++p)
      if (effects_[p].partners >= 2) effects_[p].excess -= shared;
    const bool inside = first / alike % scopes_ == 1;
    for (std::size_t kind = 0; kind < usual_.size(); ++kind)
      if (inside_[kind] == inside) usual_[kind] += one_way_ ? shared : 2 * shared;
  }
}

void additive_model::measure_noise() {
  std::array<std::vector<float>, 256> left;
  for (std::size_t i = 0; i < seen_.size(); ++i)
    left[seen_[i].kind].push_back(static_cast<float>(residual(i)));
  for (std::size_t kind = 0; kind < left.size(); ++kind)
    if (!left[kind].empty())
      sigma_[kind] = std::max(least_sigma, robust_sigma(left[kind], low_median(left[kind])));
  for (std::size_t p = 0; p < effects_.size(); ++p) {
    double sum = 0;
    for (const std::uint32_t i : observations_of(p)) sum += sigma(i);
    const auto n = static_cast<double>(effects_[p].observations);
    effects_[p].sigma = n > 0 ? sigma_of_median * sum / n / std::sqrt(n) : 0;
  }
}

void additive_model::drop_noise() {
  for (port_effect& e : effects_)
    if (e.partners < 2 || std::abs(e.excess) < noise_z * e.sigma) e.excess = 0;
}

double additive_model::residual(std::size_t index) const noexcept {
  const observation& o = seen_[index];
  return static_cast<double>(logs_[index]) - usual_[o.kind] - effects_[port_of(o, true)].excess -
         effects_[port_of(o, false)].excess;
}

double additive_model::sigma(std::size_t index) const noexcept {
  constexpr double half_interval_in_sigmas = 1.96;
  return std::hypot(sigma_[seen_[index].kind],
                    static_cast<double>(seen_[index].uncertainty) / half_interval_in_sigmas);
}

double additive_model::usual_s(std::uint8_t kind) const noexcept {
  return known_[kind] ? std::exp(usual_[kind]) : 0;
}

}  // namespace heddle::linktest
