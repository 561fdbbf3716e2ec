// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/peer_regions.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace heddle::transport::utofu {

using state_t = peer_region::state_t;

status peer_regions::look_up(peer_state& p, memory::region_ref ref, peer_region*& out) {
  return p.regions.look_up(ref, out, [&](peer_region& r) {
    if (common_tag(ref) == 0) {
      fetch(p, r);
      return status::busy_queue;  // it is asked for again after a poll
    }
    if (!device_.exposed().find_common(ref, r.facts)) return status::withdrawn;
    compute(p, r);
    return status::done;
  });
}

/// The same tag on every queue of every rank. This lane takes the one of its own number.
void peer_regions::compute(peer_state& p, peer_region& r) {
  const auto lane = static_cast<std::size_t>(lane_) % p.first_lanes.size();
  r.tag = common_tag(r.ref);
  r.of_atomics.resize(p.first_lanes.size());
  r.to.via = &peers_.vcq_of(p, static_cast<std::size_t>(p.first_lanes[lane]));
  r.to.address = address_of(*r.to.via, r.tag, 0);
  if (r.to.address != no_address) r.state = state_t::known;
}

void peer_regions::fetch(peer_state& p, peer_region& r) {
  if (!p.regions.may_fetch() || queue_.listing() || !peers_.prepare_area(p)) return;
  remote_vcq& to = peers_.vcq_of(p, 0);
  work_request c;
  c.what = work_request::form::get;
  c.there = address_of(to, tag_regions, r.ref.slot * sizeof(region_entry));
  c.here = p.area_address + offsetof(peer_area, landing) + entry_at;
  c.bytes = sizeof(region_entry);
  if (c.there == no_address || queue_.window().full() ||
      queue_.submit([&] { return c; }, to, queue_name::gets, pending(p, ending::entry)) !=
          status::done)
    return;
  p.regions.begin_fetch(r);
}

void peer_regions::on_entry(peer_state& p) noexcept {
  region_entry e;
  peer_region* const r = p.regions.end_fetch(p.area->landing.data() + entry_at, e);
  if (r == nullptr || e.note >= p.lanes.size()) return;
  r->facts = {e.bytes, static_cast<rights>(e.allowed & 7)};
  try {
    r->to = {&peers_.vcq_of(p, e.note), e.address};
    r->state = state_t::known;
  } catch (const std::bad_alloc&) {
    r->state = state_t::unknown;
  }
}

void peer_regions::distrust(peer_state& p) noexcept {
  p.regions.distrust([](const peer_region& r) { return r.tag == 0; });
}

way peer_regions::message_way(const peer_state& p, peer_region& r) noexcept {
  if (r.tag == 0 || !p.out.is_open() || p.out.polled()) return {};
  if (r.of_messages.via == nullptr) {
    // A tag is the first VCQ's on a CQ. There are few: lanes are in order.
    if (!std::ranges::binary_search(p.first_lanes, p.lane)) return {};
    const utofu_stadd_t address = address_of(*p.vcq, r.tag, 0);
    if (address == no_address) return {};
    r.of_messages = {p.vcq, address};
  }
  return r.of_messages;
}

/// Atomics on one word all go through one queue of its owner, whoever does them: the hardware is
/// not relied on to keep those of different queues apart (emu/tofu/conformance/atomics.cpp).
way peer_regions::common_atomic_way(peer_state& p, peer_region& r, std::uint64_t offset) {
  const std::size_t queue = offset / line_bytes % p.first_lanes.size();
  way& to = r.of_atomics[queue];
  if (to.via == nullptr) {
    remote_vcq& via = peers_.vcq_of(p, static_cast<std::size_t>(p.first_lanes[queue]));
    const utofu_stadd_t address = address_of(via, r.tag, 0);
    if (address == no_address) return {r.to.via, r.to.address + offset};
    to = {&via, address};
  }
  return {to.via, to.address + offset};
}

}  // namespace heddle::transport::utofu
