// SPDX-License-Identifier: BSD-3-Clause
// endpoint_sleep.cpp - going to sleep without missing anything, and looking for ended peers.
#include <algorithm>

#include "backends/shm/endpoint.h"
#include "sync/asymmetric.h"

namespace heddle::transport::shm {

bool shm_endpoint::arm() noexcept {
  return go_to_sleep(true);
}

bool shm_endpoint::arm_loosely() noexcept {
  incoming_.release();
  return go_to_sleep(false);
}

/// `for_sure`: with the barrier, which interrupts the cores of all senders. Without it one of them
/// may store a message and still see this lane awake, while its store comes here after the last
/// look for work.
bool shm_endpoint::go_to_sleep(bool for_sure) noexcept {
  if (incoming_.hold_messages()) return false;  // senders may wait for these lines
  if (links_.take_shortage()) return false;     // nothing tells when there are descriptors again
  chores_ = true;
  sleep_.mark_asleep();
  blocked_.mark_asleep();
  if (for_sure) sync::heavy_barrier();
  if (!work_in_sight()) return true;
  wake_up();
  blocked_.forget_those_with_room();
  return false;
}

/// Looks at some of the peers each time; of many, one is soon found if it is there.
bool shm_endpoint::shares_core(int core) noexcept {
  constexpr std::size_t most_looks = 32;
  const std::int32_t here = core + 1;
  if (mine_.core.get() != here) mine_.core.set(here);
  const auto waits_here = [this, here](const link* each) {
    const bool own = each->lane == lane_ && each->peer == device_.self();
    return !own && each->state == link::state_t::open && each->there->core.get() == here &&
           !each->there->asleep.seems_asleep();
  };
  const std::span<link* const> all = links_.all();
  for (std::size_t i = 0; i < std::min(all.size(), most_looks); ++i) {
    if (looked_at_ >= all.size()) looked_at_ = 0;
    if (waits_here(all[looked_at_])) return true;
    ++looked_at_;
  }
  return false;
}

/// Looked at after go_to_sleep(): whatever comes later rings.
bool shm_endpoint::work_in_sight() noexcept {
  const auto has_closed = [](const link* each) {
    return each->state == link::state_t::open && each->process->known_gone();
  };
  const auto owes = [](link* each) { return !each->ring_owed(); };
  return announced_.have_news() || incoming_.have_work() || blocked_.some_have_room() ||
         links_.some_end_unreported() || std::ranges::any_of(links_.all(), has_closed) ||
         std::ranges::any_of(links_.all(), owes);
}

void shm_endpoint::wake_up() noexcept {
  blocked_.mark_awake();
  sleep_.mark_awake();
  look_around();
}

/// For peers that have ended, and for rings that can be accepted now.
void shm_endpoint::look_around() noexcept {
  lane_sleep::ended_ranks ended{};
  const std::size_t count = sleep_.find_ended(ended);
  for (const rank peer : std::span(ended).first(count)) {
    link* const of = reach(peer, lane_);
    if (of != nullptr && of->process->is_gone()) links_.begin_end(*of);
  }
  links_.end_gone();
  announced_.try_again([this](const auto& ring) { return links_.accept(ring); });
}

}  // namespace heddle::transport::shm
