// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/regions.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::transport::verbs {

status regions::look_up(peer_lane& p, const op& o, peer_region*& out) {
  return p.process->regions.look_up(o.region, out, [&](peer_region& r) {
    if (o.place.by == name_of_places(p.process->facts.nonce)) return accept(r, o.place);
    fetch(p, r);
    return status::busy_queue;  // it is asked for again after a poll
  });
}

/// What is announced may be read. How much of it there is, the peer's card knows.
status regions::accept(peer_region& r, const region_place& where) noexcept {
  r.allowed = rights::read;
  r.bytes = UINT64_MAX;
  r.address = where.address;
  r.key = where.key;
  r.state = known_region::state_t::known;
  return status::done;
}

void regions::fetch(peer_lane& p, peer_region& r) noexcept {
  peer_process& owner = *p.process;
  if (!owner.regions.may_fetch() || !p.out.flights.has_room()) return;
  std::byte* const slot = slots_.take();
  if (slot == nullptr) return;
  p.out.flights.push({.here = slot,
                      .bytes = sizeof(region_entry),
                      .key_here = slots_.key(),
                      .there = owner.facts.table + r.ref.slot * sizeof(region_entry),
                      .key = owner.facts.table_key,
                      .how = ending::entry,
                      .in_slot = true});
  owner.regions.begin_fetch(r);
}

void regions::on_entry(peer_process& p, const std::byte* entry) noexcept {
  region_entry e;
  peer_region* const r = p.regions.end_fetch(entry, e);
  if (r == nullptr) return;
  r->allowed = static_cast<rights>(e.allowed & 7);
  r->bytes = e.bytes;
  r->address = e.address;
  r->key = e.note;
  r->state = known_region::state_t::known;
}

void regions::distrust(peer_process& p) noexcept {
  p.regions.distrust([](const peer_region&) { return true; });
}

}  // namespace heddle::transport::verbs
