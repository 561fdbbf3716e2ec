// SPDX-License-Identifier: BSD-3-Clause
// known_peers.cpp - adding, opening and waking peers.
#include "backends/shm/known_peers.h"

#include <unistd.h>

#include <algorithm>

#include "backends/shm/lane_sleep.h"
#include "backends/shm/link.h"
#include "sync/asymmetric.h"

namespace heddle::transport::shm {

known_peers::known_peers(bool we_can_fence, std::size_t expected)
    : own_pid_(getpid()),
      we_can_fence_(we_can_fence),
      nowhere_(std::make_shared<mapping>(mapping::of_zeros(sizeof(segment)))) {
  addresses_.reserve(expected);
  lanes_.reserve(max_lanes);
}

std::shared_ptr<peer_process> known_peers::open_first_of(const credentials& owner,
                                                         const peer_address& where) {
  opened_.erase(where.number);
  const bool tried = std::ranges::find(tried_, owner) != tried_.end();
  if (tried && where.pid != own_pid_) return nullptr;
  return std::make_shared<peer_process>(where, we_can_fence_);
}

void known_peers::add(const credentials& owner, const peer_address& where,
                      const std::shared_ptr<peer_process>& opened) {
  if (opened != nullptr) announce(opened);
  // What this process may do to itself proves nothing.
  if (opened != nullptr && where.pid != own_pid_ && !opened->is_gone()) tried_.push_back(owner);
  remember(where);
  for (lane_sleep* lane : lanes_) lane->wake();  // its ring may have been announced already
}

void known_peers::remember(const peer_address& where) {
  const auto at = std::ranges::lower_bound(addresses_, where.number, {}, &peer_address::number);
  if (at != addresses_.end() && at->number == where.number)
    *at = where;
  else
    addresses_.insert(at, where);
}

const peer_address* known_peers::address_of(rank number) const noexcept {
  const auto at = std::ranges::lower_bound(addresses_, number, {}, &peer_address::number);
  return at != addresses_.end() && at->number == number ? &*at : nullptr;
}

std::shared_ptr<peer_process> known_peers::find(rank number) {
  const auto found = opened_.find(number);
  if (found != opened_.end()) return found->second;
  const peer_address* const where = address_of(number);
  return where != nullptr ? open(*where) : nullptr;
}

std::shared_ptr<peer_process> known_peers::open(const peer_address& where) {
  try {
    auto peer = std::make_shared<peer_process>(where, we_can_fence_);
    announce(peer);
    return peer;
  } catch (const shortage&) {
    throw;
  } catch (const error& why) {
    return opened_[where.number] =
               std::make_shared<peer_process>(where.number, why.what(), nowhere_);
  }
}

std::shared_ptr<peer_process> known_peers::stand_in(rank number) const {
  return std::make_shared<peer_process>(number, "", nowhere_);
}

/// All lanes are to hear of its end.
void known_peers::announce(const std::shared_ptr<peer_process>& peer) {
  for (lane_sleep* lane : lanes_) lane->watch(*peer);
  opened_[peer->number()] = peer;
}

void known_peers::add_sleeper(lane_sleep& lane) {
  for (auto& [number, peer] : opened_) lane.watch(*peer);
  lanes_.push_back(&lane);
}

void known_peers::remove_sleeper(const lane_sleep& lane) noexcept {
  std::erase(lanes_, &lane);
}

void known_peers::wake_all() noexcept {
  sync::heavy_barrier();
  for (auto& [number, peer] : opened_) {
    const int lanes =
        static_cast<int>(std::min<std::uint32_t>(max_lanes, peer->memory().lanes_used.get()));
    for (int lane = 0; lane < lanes && !peer->known_gone(); ++lane) link(peer, lane).wake();
  }
}

}  // namespace heddle::transport::shm
