// SPDX-License-Identifier: BSD-3-Clause
// fabric.cpp - numbers of switches and cables in closed form.
#include "linktest/simulate/fabric.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "linktest/plan/permutation.h"

namespace heddle::linktest {
namespace {

constexpr std::array<const char*, 3> shape_names{"fattree", "torus", "dragonfly"};

/// The number of the unordered pair a < b among those of its kind: 0-1, 0-2, 1-2, 0-3, ...
constexpr std::uint64_t pair_number(std::uint64_t a, std::uint64_t b) noexcept {
  return a < b ? b * (b - 1) / 2 + a : a * (a - 1) / 2 + b;
}

/// Of a pair, the same in both directions: a route and its way back cross the same cables.
std::uint64_t hash_of(std::uint64_t a, std::uint64_t b) noexcept {
  return mix(mix(std::min(a, b)) + std::max(a, b));
}

}  // namespace

fabric::fabric(shape form, int k, int hosts)
    : form_(form), k_(static_cast<std::uint64_t>(std::max(k, 0))), hosts_(hosts) {
  const bool chosen = k_ != 0;
  if (!chosen) {
    const std::uint64_t pace = form == shape::fattree ? 2 : 1;
    for (k_ = 2; room() < static_cast<std::uint64_t>(hosts);) k_ += pace;
  }
  if (k_ < 2 || k_ > 1000 || (form == shape::fattree && k_ % 2 != 0) ||
      room() < static_cast<std::uint64_t>(hosts))
    throw error(fmt::format(
        "--simulate {}:k={} has no room for {} hosts: leave out k, or give a larger one of at most "
        "1000{}",
        shape_names[static_cast<std::size_t>(form)], k, hosts,
        form == shape::fattree ? ", even" : ""));
}

fabric fabric::parse(const std::string& text, int hosts) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto found = std::find(shape_names.begin(), shape_names.end(), name);
  int k = 0;
  bool right = found != shape_names.end();
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    right = right && text.compare(colon, 3, ":k=") == 0 && colon + 3 < text.size();
    if (right) {
      const auto [stop, problem] = std::from_chars(text.data() + colon + 3, end, k);
      right = problem == std::errc{} && stop == end && k > 0;
    }
  }
  if (!right)
    throw error(fmt::format(
        "'{}' is no network to simulate; give fattree, torus or dragonfly, with :k=N behind it for "
        "its size",
        text));
  return {static_cast<shape>(found - shape_names.begin()), k, hosts};
}

std::uint64_t fabric::room() const noexcept {
  switch (form_) {
    case shape::fattree:
      return k_ * k_ * k_ / 4;
    case shape::torus:
      return k_ * k_ * k_;
    case shape::dragonfly:
      return k_ * 2 * k_ * (2 * k_ * k_ + 1);
  }
  return 0;
}

std::uint64_t fabric::cables() const noexcept {
  switch (form_) {
    case shape::fattree:
      return k_ * k_ * k_ / 2;
    case shape::torus:
      return 3 * k_ * k_ * k_;
    case shape::dragonfly: {
      const std::uint64_t groups = 2 * k_ * k_ + 1, switches = 2 * k_;
      return groups * (groups - 1) / 2 + groups * (switches * (switches - 1) / 2);
    }
  }
  return 0;
}

void fabric::route(int from, int to, std::vector<std::uint32_t>& out) const {
  const auto a = static_cast<std::uint64_t>(from), b = static_cast<std::uint64_t>(to);
  if (form_ == shape::fattree) return fattree_route(a, b, out);
  if (form_ == shape::torus) return torus_route(a, b, out);
  dragonfly_route(a, b, out);
}

/// First the leaf-spine cables, k/2 of each leaf, then the spine-core ones, k/2 of each spine.
void fabric::fattree_route(std::uint64_t from, std::uint64_t to,
                           std::vector<std::uint32_t>& out) const {
  const std::uint64_t half = k_ / 2, leaf_cables = k_ * half * half;
  const std::uint64_t leaf_a = from / half, leaf_b = to / half;
  if (leaf_a == leaf_b) return;
  const std::uint64_t pod_a = leaf_a / half, pod_b = leaf_b / half;
  const std::uint64_t choice = hash_of(from, to);
  const std::uint64_t spine = choice % half, core = choice / half % half;
  const auto add = [&out](std::uint64_t cable) {
    out.push_back(static_cast<std::uint32_t>(cable));
  };
  add(leaf_a * half + spine);
  if (pod_a != pod_b) {
    add(leaf_cables + (pod_a * half + spine) * half + core);
    add(leaf_cables + (pod_b * half + spine) * half + core);
  }
  add(leaf_b * half + spine);
}

/// The cable in direction d from a switch is 3 switch + d. The shorter way around each ring.
void fabric::torus_route(std::uint64_t from, std::uint64_t to,
                         std::vector<std::uint32_t>& out) const {
  std::uint64_t stride = 1, at = from;
  for (unsigned d = 0; d < 3; ++d, stride *= k_) {
    const std::uint64_t goal = to / stride % k_;
    for (std::uint64_t here = at / stride % k_; here != goal;) {
      const bool up = (goal + k_ - here) % k_ <= k_ / 2;
      const std::uint64_t next = (here + (up ? 1 : k_ - 1)) % k_;
      const std::uint64_t moved = at - here * stride + next * stride;
      out.push_back(static_cast<std::uint32_t>(3 * (up ? at : moved) + d));
      at = moved;
      here = next;
    }
  }
}

std::uint32_t fabric::local_cable(std::uint64_t group, std::uint64_t a,
                                  std::uint64_t b) const noexcept {
  const std::uint64_t groups = 2 * k_ * k_ + 1, switches = 2 * k_;
  return static_cast<std::uint32_t>(groups * (groups - 1) / 2 +
                                    group * (switches * (switches - 1) / 2) + pair_number(a, b));
}

/// The global cable from one group to another leaves at the switch that has that group's turn.
void fabric::dragonfly_route(std::uint64_t from, std::uint64_t to,
                             std::vector<std::uint32_t>& out) const {
  const std::uint64_t switches = 2 * k_, groups = 2 * k_ * k_ + 1;
  const std::uint64_t switch_a = from / k_, switch_b = to / k_;
  const std::uint64_t group_a = switch_a / switches, group_b = switch_b / switches;
  const std::uint64_t local_a = switch_a % switches, local_b = switch_b % switches;
  if (group_a == group_b) {
    if (local_a != local_b) out.push_back(local_cable(group_a, local_a, local_b));
    return;
  }
  const std::uint64_t exit = ((group_b + groups - group_a - 1) % groups) / k_;
  const std::uint64_t entry = ((group_a + groups - group_b - 1) % groups) / k_;
  if (local_a != exit) out.push_back(local_cable(group_a, local_a, exit));
  out.push_back(static_cast<std::uint32_t>(pair_number(group_a, group_b)));
  if (local_b != entry) out.push_back(local_cable(group_b, entry, local_b));
}

std::uint8_t fabric::distance(int from, int to) const {
  const auto a = static_cast<std::uint64_t>(from), b = static_cast<std::uint64_t>(to);
  const std::uint64_t per_switch = form_ == shape::fattree ? k_ / 2 : k_;
  const std::uint64_t per_group = per_switch * (form_ == shape::fattree ? k_ / 2 : 2 * k_);
  if (form_ != shape::torus)
    return a / per_switch == b / per_switch ? 0 : a / per_group == b / per_group ? 1 : 2;
  std::uint64_t hops = 0;
  for (std::uint64_t stride = 1, d = 0; d < 3; ++d, stride *= k_) {
    const std::uint64_t apart = (b / stride % k_ + k_ - a / stride % k_) % k_;
    hops += std::min(apart, k_ - apart);
  }
  return static_cast<std::uint8_t>(std::bit_width(hops));  // 1, 2-3, 4-7, ... hops
}

std::string fabric::cable_name(std::uint32_t cable) const {
  const std::uint64_t half = k_ / 2, leaf_cables = k_ * half * half;
  const std::uint64_t groups = 2 * k_ * k_ + 1, switches = 2 * k_;
  const std::uint64_t global = groups * (groups - 1) / 2, local = switches * (switches - 1) / 2;
  if (form_ == shape::torus) {
    const std::uint64_t at = cable / 3;
    return fmt::format("cable ({},{},{}) +{}", at % k_, at / k_ % k_, at / k_ / k_,
                       "xyz"[cable % 3]);
  }
  if (form_ == shape::dragonfly && cable >= global)
    return fmt::format("local cable {} of group {}", (cable - global) % local,
                       (cable - global) / local);
  if (form_ == shape::dragonfly) {
    std::uint64_t b = 1;
    while (b * (b + 1) / 2 <= cable) ++b;
    return fmt::format("cable group {} - group {}", cable - b * (b - 1) / 2, b);
  }
  if (cable < leaf_cables)
    return fmt::format("cable leaf {} - spine {} of pod {}", cable / half, cable % half,
                       cable / half / half);
  const std::uint64_t above = cable - leaf_cables;
  return fmt::format("cable spine {} of pod {} - core {}", above / half % half, above / half / half,
                     above / half % half * half + above % half);
}

std::string fabric::describe() const {
  return fmt::format("{} with k = {} and {} hosts", shape_names[static_cast<std::size_t>(form_)],
                     k_, hosts_);
}

}  // namespace heddle::linktest
