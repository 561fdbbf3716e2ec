// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/peer.h"

#include <algorithm>
#include <utility>

#include "protocols/pieces.h"
#include "protocols/surroundings.h"

namespace heddle::protocols {

/// What has come together with the news of its loss finds nobody either (arrivals::meet).
void peer::drop() noexcept {
  const auto let_go = [](const rail& r) {
    if (r.by == nullptr) return;
    r.by->drop(*r.to);
    r.to->user = nullptr;
  };
  let_go(wire);
  let_go(atomics);
  if (several != nullptr)
    for (const rail& r : std::span(several->rails).subspan(1)) let_go(r);
}

peer_table::peer_table(const surroundings& where,
                       std::span<const std::unique_ptr<transport::endpoint>> endpoints)
    : where_(where),
      endpoints_(endpoints),
      own_lane_(where.lane),
      size_(static_cast<std::size_t>(where.size)) {}

rail peer_table::rail_on(std::size_t device, destination d) const noexcept {
  transport::endpoint& by = *endpoints_[device];
  return {&by, by.reach(d.to, d.lane)};
}

/// That of the peer's route, unless another one has the lane and that one has not.
std::uint8_t peer_table::device_for(destination d) const noexcept {
  const auto listens = [&](std::size_t device) {
    const rail r = rail_on(device, d);
    return r.to != nullptr && r.to->listens;
  };
  const std::uint8_t best = where_.route[static_cast<std::size_t>(d.to)];
  if (listens(best)) return best;
  for (std::size_t other = 0; other < endpoints_.size(); ++other)
    if (listens(other)) return static_cast<std::uint8_t>(other);
  return d.lane == own_lane_ ? best : no_route;  // memory needs no lane of the peer
}

/// Of the other devices of the same backend, those that reach the peer. Null: none does.
std::unique_ptr<several_rails> peer_table::others_beside(std::size_t device, destination d) const {
  const std::uint64_t least = where_.config->stripe_bytes;
  if (least == 0) return nullptr;
  std::vector<rail> rails{rail_on(device, d)};
  for (std::size_t other = 0; other < where_.backends.size(); ++other) {
    if (other == device || where_.backends[other] != where_.backends[device]) continue;
    if (const rail r = rail_on(other, d); r.to != nullptr) rails.push_back(r);
  }
  if (rails.size() == 1) return nullptr;
  auto made = std::make_unique<several_rails>();
  made->plan = std::make_unique<earliest_end>(rails.size());
  made->rails = std::move(rails);
  made->least_bytes = least;
  return made;
}

peer* peer_table::find_by_lane(destination d) const noexcept {
  if (d.lane == own_lane_) return find(d.to);
  return others_.find(d.to, d.lane);
}

peer* peer_table::make(destination d) {
  if (d.lane == same_lane) d.lane = own_lane_;
  if (!valid(d.to) || d.lane < 0 || d.lane >= max_lanes) return nullptr;
  const std::uint8_t device = device_for(d);
  const rail wire = device == no_route ? rail{} : rail_on(device, d);
  if (wire.to == nullptr) return nullptr;
  // Whoever is lost is so on all its lanes.
  const peer* const same = find(d.to);
  const bool lost = same != nullptr && same->lost;
  auto made = std::make_unique<peer>();
  peer& p = d.lane == own_lane_
                ? of_own_lane_.insert(static_cast<std::size_t>(d.to), std::move(made))
                : others_.insert(d.to, d.lane, std::move(made));
  const settings& config = *where_.config;
  const transport::traits& traits = where_.devices[device]->describe();
  p.number = d.to;
  p.lane = d.lane;
  p.device = device;
  p.wire = wire;
  const std::uint8_t atomics = where_.atomic_route[static_cast<std::size_t>(d.to)];
  p.no_atomics = atomics == no_route;
  if (atomics != device && atomics != no_route) p.atomics = rail_on(atomics, d);
  if (p.atomics.by != nullptr && p.atomics.to == nullptr) {  // for want of memory
    p.no_atomics = !where_.devices[atomics]->describe().cpu_atomics;
    p.atomics = {};  // the peer's CPU does them, asked by messages
  }
  p.copies_in_post = traits.copies_in_post;
  p.refuses_late = traits.refuses_late;
  p.put_tells = traits.put_tells;
  p.native = transport::usable_ops(traits);
  const bool on_wire = atomics == device && p.takes(transport::op_kind::atomic);
  p.native_atomics = on_wire ? traits.atomics : transport::atomic_set::none();
  p.network_atomics = on_wire && !traits.cpu_atomics;
  p.max_op = traits.max_op;
  p.several = others_beside(device, d);
  p.max_straight = p.max_op;
  if (p.several != nullptr) p.max_straight = std::min(p.max_op, p.several->least_bytes - 1);
  if (p.copies_in_post) p.max_straight = std::min(p.max_straight, pieces::piece_bytes);
  const std::size_t at_once = p.refuses_late ? 0 : p.max_straight;
  p.max_put_at_once = p.takes(transport::op_kind::put) ? at_once : 0;
  p.max_get_at_once = p.takes(transport::op_kind::get) ? at_once : 0;
  p.max_payload = traits.max_message - max_overhead;
  p.eager_bytes =
      config.eager_bytes == 0 ? p.max_payload : std::min(config.eager_bytes, p.max_payload);
  // A sender without credit waits awake for the next, so the portions are small; smaller where a
  // message costs as little as a copy.
  p.credit.open(config.credit_bytes, config.credit_bytes / (p.copies_in_post ? 32 : 16));
  p.lost = lost;
  if (lost) p.drop();
  all_.push_back(&p);
  return &p;
}

status peer_table::why_none(destination d) const noexcept {
  if (d.lane == same_lane) d.lane = own_lane_;
  if (!valid(d.to) || d.lane < 0 || d.lane >= max_lanes) return status::invalid;
  const std::size_t best = where_.route[static_cast<std::size_t>(d.to)];
  const bool may_be_there =
      static_cast<std::size_t>(d.lane) < where_.devices[best]->describe().lanes;
  return may_be_there && rail_on(best, d).to == nullptr ? status::no_memory : status::invalid;
}

void peer_table::clear() noexcept {
  all_.clear();
  size_ = 0;
  of_own_lane_.clear();
  others_.clear();
}

}  // namespace heddle::protocols
