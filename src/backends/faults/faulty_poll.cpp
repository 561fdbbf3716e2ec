// SPDX-License-Identifier: BSD-3-Clause
// faulty_poll.cpp - a faulty endpoint's way out: held ops go on, and events come out.
#include <array>

#include "backends/faults/faulty_endpoint.h"

namespace heddle::transport {
namespace {

constexpr std::size_t batch = 16;

}  // namespace

std::size_t faulty_endpoint::poll(std::span<event> out) noexcept {
  events_.end_delivery();
  armed_ = false;
  if (starved_told_) turned_away_ = starved_ = starved_told_ = false;
  ops_.release([this](op& o) { return release(o); });
  if (!events_.full()) take_events();
  return events_.deliver(out);
}

/// False: the inner endpoint has no room.
bool faulty_endpoint::release(op& o) {
  const status ended = inner_->post(o);
  if (ended == status::busy_queue) return false;
  if (ended != status::posted) report_end(o, ended);
  // The inner endpoint may think now that whoever waited for room has got it.
  if (turned_away_) starved_ = true;
  return true;
}

void faulty_endpoint::take_events() {
  std::array<event, batch> events;
  const std::size_t wanted = random_.percent(plan_.split) ? 1 + random_.up_to(batch - 1) : batch;
  const std::size_t n = inner_->poll(std::span(events).first(wanted));
  for (std::size_t i = 0; i < n; ++i) take(events[i]);
}

void faulty_endpoint::take(const event& e) {
  if (e.kind == event::kind_t::arrived) {
    if (e.from->peer == plan_.kill && ++kill_steps_ >= plan_.kill_at) lose(*e.from);
    if (lost_.contains(e.from)) return;
  }
  if (e.kind == event::kind_t::peer_lost && !told_lost_.insert(e.from).second) return;
  events_.hold(e);
}

void faulty_endpoint::report_end(op& o, status code) {
  if (o.kind != op_kind::send) events_.hold({event::kind_t::ended, code, o.to, &o, {}});
}

bool faulty_endpoint::arm() noexcept {
  if (starved_) {
    starved_told_ = true;
    return false;
  }
  return armed_ = events_.empty() && ops_.only_wait_for_room() && inner_->arm();
}

}  // namespace heddle::transport
