// SPDX-License-Identifier: BSD-3-Clause
// endpoint.cpp - opening and closing an endpoint, and the ends of its links.
#include "backends/shm/endpoint.h"

#include <algorithm>

namespace heddle::transport::shm {

shm_endpoint::shm_endpoint(shm_device& owner, int lane)
    : device_(owner),
      lane_(lane),
      max_message_(owner.describe().max_message),
      mine_(owner.memory().lanes[static_cast<std::size_t>(lane)]),
      sleep_(mine_),
      links_(owner, lane, incoming_, blocked_),
      announced_(mine_.rings) {
  device_.add_lane(lane, sleep_);
  sleep_.show_bell();
}

shm_endpoint::~shm_endpoint() {
  device_.remove_lane(sleep_);
  sleep_.hide_bell();
  mine_.core.set(0);
}

void shm_endpoint::maintain() noexcept {
  look_around();
  for (link* each : links_.all()) each->trim();
}

void shm_endpoint::drop(remote_lane& of) noexcept {
  link& lost = static_cast<link&>(of);
  links_.begin_end(lost);
  forget(lost);
}

bool shm_endpoint::idle() const noexcept {
  const auto settled = [](const link* each) { return each->settled(); };
  return std::ranges::all_of(links_.all(), settled);
}

/// Takes nothing more from it. The rings stay mapped until the next poll: their messages are out.
void shm_endpoint::forget(link& lost) noexcept {
  lost.state = link::state_t::lost;
  incoming_.remove(lost);
  sleep_.unwatch(*lost.process);
}

std::size_t shm_endpoint::report_ends(std::span<event> out) noexcept {
  std::size_t count = 0;
  links_.report_ends([&](link& ended) {
    if (count == out.size()) return false;
    out[count++] = {event::kind_t::peer_lost, status::peer_lost, &ended, nullptr,
                    bytes_of(ended.why())};
    if (ended.process->known_gone()) device_.mark_lost(ended.peer);
    forget(ended);
    return true;
  });
  return count;
}

}  // namespace heddle::transport::shm
