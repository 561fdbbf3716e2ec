// SPDX-License-Identifier: BSD-3-Clause
#include "engine/routes.h"

#include <algorithm>

#include "protocols/port.h"

namespace heddle::engine {
namespace {

constexpr std::size_t most_lanes = UINT16_MAX;

}  // namespace

routes::routes(std::span<const candidate> devices, int ranks)
    : ranks_(static_cast<std::size_t>(ranks)) {
  for (const candidate& d : devices) devices_.push_back({d, std::vector<std::uint16_t>(ranks_)});
}

void routes::add(std::size_t device, rank peer, std::size_t lanes) {
  devices_[device].lanes[at(peer)] = static_cast<std::uint16_t>(std::min(lanes, most_lanes));
  limits_.insert(lanes);
}

bool routes::reaches(rank peer) const noexcept {
  return std::ranges::any_of(devices_, [&](const reach& r) { return r.lanes[at(peer)] != 0; });
}

bool routes::needless(std::size_t device, rank peer) const noexcept {
  if (transport::owns_atomics(devices_[device].through->describe())) return false;
  const auto before = std::span(devices_).first(device);
  return std::ranges::any_of(before, [&](const reach& r) {
    return r.backend != devices_[device].backend && r.lanes[at(peer)] >= max_lanes;
  });
}

const lane_routes& routes::of(int lane) {
  const auto number = static_cast<std::size_t>(lane);
  const auto below =
      static_cast<std::size_t>(std::distance(limits_.begin(), limits_.upper_bound(number)));
  const auto known = by_limit_.find(below);
  if (known != by_limit_.end()) return known->second;
  return by_limit_.emplace(below, make(number)).first->second;
}

std::set<std::size_t> routes::used() const {
  std::set<std::size_t> found;
  std::set<std::size_t> firsts = limits_;  // of lanes that are routed in another way
  firsts.insert(0);
  for (const std::size_t lane : firsts) {
    const lane_routes ways = make(lane);
    for (std::size_t d = 0; d < devices_.size(); ++d)
      if (std::ranges::find(ways.devices, devices_[d].through) != ways.devices.end())
        found.insert(d);
  }
  return found;
}

std::size_t routes::best(std::size_t peer, std::size_t lane) const noexcept {
  std::size_t any = devices_.size();
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d].lanes[peer] > lane) return d;
    if (any == devices_.size() && devices_[d].lanes[peer] != 0) any = d;
  }
  return any;
}

/// The device that does all atomics on the peer by itself; devices_.size(): none does.
std::size_t routes::owner_of_atomics(std::size_t peer) const noexcept {
  const auto owns = [&](const reach& r) {
    return r.lanes[peer] != 0 && transport::owns_atomics(r.through->describe());
  };
  return static_cast<std::size_t>(std::ranges::find_if(devices_, owns) - devices_.begin());
}

bool routes::cpu_does_atomics(rank peer) const noexcept {
  return owner_of_atomics(at(peer)) == devices_.size();
}

/// The index of the device among those of `made`, which it joins.
std::uint8_t routes::join(lane_routes& made, std::size_t device) const {
  const auto& [through, backend] = static_cast<const candidate&>(devices_[device]);
  const auto found = std::ranges::find(made.devices, through);
  const auto index = static_cast<std::uint8_t>(found - made.devices.begin());
  if (found == made.devices.end()) {
    made.devices.push_back(through);
    made.backends.push_back(backend);
  }
  return index;
}

/// The other devices of a route's backend are further rails.
lane_routes routes::make(std::size_t lane) const {
  lane_routes made;
  for (std::size_t peer = 0; peer < ranks_; ++peer) {
    const std::size_t route = best(peer, lane), owner = owner_of_atomics(peer);
    made.route.push_back(join(made, route));
    for (std::size_t d = 0; d < devices_.size(); ++d)
      if (devices_[d].backend == devices_[route].backend && devices_[d].lanes[peer] > lane)
        (void)join(made, d);
    if (owner == devices_.size() || owner == route)
      made.atomics.push_back(made.route.back());
    else if (devices_[owner].lanes[peer] > lane)
      made.atomics.push_back(join(made, owner));
    else
      made.atomics.push_back(protocols::no_route);
  }
  for (const std::size_t d : heard_)
    if (devices_[d].through->describe().lanes > lane) (void)join(made, d);
  return made;
}

}  // namespace heddle::engine
