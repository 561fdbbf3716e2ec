// endpoint_regions.cpp - a peer's region as this lane reaches it: its address computed, or fetched
// from the peer's table on first use.
#include <cstring>

#include "backends/utofu/endpoint.h"
#include "backends/utofu/names.h"

namespace heddle::transport::utofu {

/// post: `found` can be used. Otherwise what the op is told.
utofu_endpoint::planned utofu_endpoint::resolve(link& l, const op& what, plan& p, target*& found) {
  if (l.last_target != nullptr && l.last_target->ref == what.region &&
      l.last_target->state == target::state_t::known) [[likely]] {
    found = l.last_target;
    return planned::post;
  }
  if (what.region.slot >= memory::region_table::slots || what.region.generation == 0)
    return refuse(p, status::withdrawn);
  target& t = l.targets[what.region.slot];
  if (t.state == target::state_t::fetching) return planned::busy;
  if (t.ref != what.region) {
    t = {};
    t.ref = what.region;
  }
  if (t.state == target::state_t::unknown) {
    if (common_tag(t.ref) == 0) return fetch(l, t);
    if (!device_.exposed().find_common(t.ref, t.facts)) return refuse(p, status::withdrawn);
    compute(l, t);
  }
  if (t.state == target::state_t::fetched) {  // and it was not there
    t.state = target::state_t::unknown;
    return refuse(p, status::withdrawn);
  }
  found = l.last_target = &t;
  return planned::post;
}

/// The same tag on every queue of every rank. This lane takes the one of its own number.
void utofu_endpoint::compute(link& l, target& t) {
  const auto lane = static_cast<std::size_t>(
      l.first_lanes[static_cast<std::size_t>(lane_) % l.first_lanes.size()]);
  t.tag = common_tag(t.ref);
  t.via = stream_to(l, lane);
  if (utofu_query_stadd(without_path(t.via->to), t.tag, &t.address) == UTOFU_SUCCESS)
    t.state = target::state_t::known;
}

/// Asks the peer's table. The op is tried again after a poll.
utofu_endpoint::planned utofu_endpoint::fetch(link& l, target& t) {
  if (l.fetching || !prepare_line(l)) return planned::busy;
  stream* const to = stream_to(l, 0);
  descriptor d;
  d.what = descriptor::form::get;
  if (utofu_query_stadd(without_path(to->to), tag_regions, &d.there) != UTOFU_SUCCESS)
    return planned::busy;
  d.there += t.ref.slot * sizeof(region_entry);
  d.here = slab_.address(l.line_at) + offsetof(line, fetched) + entry_at;
  d.bytes = sizeof(region_entry);
  l.fetching = post_own(*to, flight::purpose::entry, l, d);
  if (!l.fetching) return planned::busy;
  l.fetched_target = &t;
  t.state = target::state_t::fetching;
  return planned::busy;
}

void utofu_endpoint::on_entry(link& l) noexcept {
  target& t = *l.fetched_target;
  region_entry e;
  std::memcpy(&e, l.mine->fetched.data() + entry_at, sizeof e);
  t.state = target::state_t::unknown;
  const bool never_used = e.generation == 0 && e.check == 0;
  if (!never_used && e.check != check_sum(e)) return;  // it was being written: again
  t.state = target::state_t::fetched;
  if (e.generation != t.ref.generation || e.lane >= l.streams.size()) return;
  t.facts = {e.bytes, static_cast<rights>(e.allowed & 7)};
  t.address = e.address;
  try {
    t.via = stream_to(l, e.lane);
    t.state = target::state_t::known;
  } catch (const std::bad_alloc&) {
    t.state = target::state_t::unknown;
  }
}

/// Atomics on one word all go through one queue of its owner, whoever does them: the hardware is
/// not relied on to keep those of different queues apart (research: utofu.md 3.2.10).
std::pair<stream*, utofu_stadd_t> utofu_endpoint::atomic_way(link& l, target& t,
                                                             std::uint64_t offset) {
  if (t.tag == 0) return {t.via, t.address + offset};
  const auto lane =
      static_cast<std::size_t>(l.first_lanes[offset / line_bytes % l.first_lanes.size()]);
  stream* const via = stream_to(l, lane);
  utofu_stadd_t address = 0;
  if (utofu_query_stadd(without_path(via->to), t.tag, &address) != UTOFU_SUCCESS)
    return {t.via, t.address + offset};
  return {via, address + offset};
}

}  // namespace heddle::transport::utofu
