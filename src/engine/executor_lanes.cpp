// SPDX-License-Identifier: BSD-3-Clause
#include "engine/executor_lanes.h"

#include <algorithm>

#include "base/clock.h"

namespace heddle::engine {

void executor_lanes::adopt() {
  all_.for_each([this](lane_core& lane) {
    if (!has(lane)) return;
    if (std::ranges::find(lanes_, &lane) != lanes_.end()) return;
    place_.add(lane.port().endpoints().all());
    dismiss();  // no longer alone
    lanes_.push_back(&lane);
  });
}

/// An executor that went on where the program polls would keep the lane from it, and the core: it
/// moves a piece of a large message at each turn, so that there is always something to go on with.
std::size_t executor_lanes::serve() noexcept {
  std::size_t count = 0;
  for (lane_core* const l : lanes_) {
    const std::size_t events = l->server().serve(alone());
    if (!l->server().program_polls() || l->waiter().executor_polls()) count += events;
  }
  return count;
}

void executor_lanes::serve_left_alone() noexcept {
  for (lane_core* const l : lanes_)
    if (l->left_alone()) l->server().progress();
}

/// A lane that somebody holds just now is not passed over, or a thread that wakes up whenever this
/// one does could hide a silent peer for long: it tries again after a tick.
void executor_lanes::maintain(std::uint64_t every_ms) noexcept {
  const std::uint64_t now = now_ns();
  if (now < next_maintain_ns_) return;
  overdue_ = false;
  for (lane_core* const l : lanes_) {
    if (l->port().in_flight_hint() != 0 && !l->server().maintain(now)) overdue_ = true;
  }
  next_maintain_ns_ = now + (overdue_ ? resting_place::least_tick_ms : every_ms) * 1'000'000;
}

executor_lanes::demand executor_lanes::asked() const noexcept {
  demand all;
  for (lane_core* const l : lanes_) {
    all.picked += l->driver().model().counters().picked.get();
    all.polls |= l->waiter().executor_polls();
  }
  return all;
}

executor_lanes::readiness executor_lanes::prepare_rest() noexcept {
  using of_lane = lane_server::readiness;
  readiness all;
  for (lane_core* const l : lanes_) {
    const of_lane r = l->server().prepare_sleep(alone());
    if (r == of_lane::work) return {.work = true};
    all.polled |= r == of_lane::polled;
    all.away &= r != of_lane::polled || l->driver().parking().is_away();
    const protocols::port& port = l->port();
    if (port.in_flight_hint() == 0) continue;
    all.in_flight = true;
    if (port.awaits_credit()) look_soon();
  }
  return all;
}

void executor_lanes::dismiss() noexcept {
  for (lane_core* const l : lanes_) l->server().dismiss();
}

}  // namespace heddle::engine
