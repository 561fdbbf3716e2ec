// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/peers.h"

#include <algorithm>
#include <new>
#include <utility>

#include "backends/utofu/names.h"

namespace heddle::transport::utofu {
namespace {

/// Lanes that are the first on their CQ.
std::vector<int> first_on_their_cq(const std::vector<place>& lanes) {
  std::vector<int> first;
  for (auto each = lanes.begin(); each != lanes.end(); ++each) {
    const auto same_cq = [&](const place& p) { return p.tni == each->tni && p.cq == each->cq; };
    if (std::find_if(lanes.begin(), each, same_cq) == each)
      first.push_back(static_cast<int>(each - lanes.begin()));
  }
  return first;
}

}  // namespace

peer_state* peers::make(rank number, int lane) noexcept {
  try {
    auto facts = number >= 0 && lane >= 0 ? device_.find_peer(number) : nullptr;
    if (facts == nullptr) return nullptr;
    auto made = std::make_unique<peer_state>(number, lane);
    made->facts = std::move(facts);
    const std::vector<place>& lanes = *made->facts->lanes;
    made->lanes.resize(lanes.size());
    made->first_lanes = first_on_their_cq(lanes);
    all_.reserve(all_.size() + 1);
    made->listens = static_cast<std::size_t>(lane) < lanes.size();
    if (made->listens) made->vcq = &vcq_of(*made, static_cast<std::size_t>(lane));
    peer_state& p = known_.insert(number, lane, std::move(made));
    if (p.vcq != nullptr) p.vcq->messages = &p;
    all_.push_back(&p);
    return &p;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

remote_vcq& peers::vcq_of(peer_state& p, std::size_t lane) {
  if (p.lanes[lane] == nullptr) {
    const utofu_vcq_id_t id = p.facts->vcq_of(lane);
    p.lanes[lane] = &vcqs_.add(without_path(id), id);
  }
  return *p.lanes[lane];
}

remote_vcq* peers::any_vcq_of(const peer_state& p) noexcept {
  if (p.vcq != nullptr) return p.vcq;
  const auto found = std::find_if(p.lanes.begin(), p.lanes.end(),
                                  [](const remote_vcq* each) { return each != nullptr; });
  return found != p.lanes.end() ? *found : nullptr;
}

bool peers::prepare_area(peer_state& p) noexcept {
  if (p.area != nullptr) return true;
  if (!slab_.allocate(sizeof(peer_area), p.area_at)) return false;
  p.area = reinterpret_cast<peer_area*>(slab_.at(p.area_at));
  p.area_address = slab_.address(p.area_at);
  return true;
}

bool peers::prepare_ring(peer_state& p, std::uint32_t lines, bool polled) noexcept {
  if (!prepare_area(p) || !slab_.allocate(std::size_t{lines} * line_bytes, p.ring_at)) return false;
  p.in.open(slab_.at(p.ring_at), lines, polled, p.facts->nonce);
  return true;
}

utofu_stadd_t address_of(const remote_vcq& to, unsigned tag, std::uint64_t offset) noexcept {
  utofu_stadd_t address = 0;
  if (utofu_query_stadd(to.id, tag, &address) != UTOFU_SUCCESS) return no_address;
  return address + offset;
}

}  // namespace heddle::transport::utofu
