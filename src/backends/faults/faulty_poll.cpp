// SPDX-License-Identifier: BSD-3-Clause
// faulty_poll.cpp - a faulty endpoint's way out: events, late, in parts and out of order.
#include <algorithm>
#include <array>

#include "backends/faults/faulty_endpoint.h"

namespace heddle::transport {
namespace {

constexpr std::size_t most_held_events = 256;
constexpr std::size_t batch = 16;

}  // namespace

std::size_t faulty_endpoint::poll(std::span<event> out) noexcept {
  lent_.clear();
  armed_ = false;
  if (starved_told_) turned_away_ = starved_ = starved_told_ = false;
  release_ops();
  if (held_events_.size() < most_held_events) take_events();
  return out.empty() ? 0 : deliver(out);
}

/// Hands on the held ops whose time has come, oldest first.
void faulty_endpoint::release_ops() {
  for (std::size_t i = 0; i < held_ops_.size();) {
    held_op& h = held_ops_[i];
    h.waiting = false;
    if (h.polls != 0) --h.polls;
    const bool late =
        h.until.time_since_epoch().count() != 0 && std::chrono::steady_clock::now() < h.until;
    const bool stays = late || h.polls != 0 || blocked(h.what(), i) ||
                       random_.percent(plan_.reorder) || !release(h);
    if (stays)
      ++i;
    else
      held_ops_.erase(held_ops_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// False: the inner endpoint has no room.
bool faulty_endpoint::release(held_op& h) {
  const status ended = inner_->post(h.what());
  h.waiting = ended == status::busy_queue;
  if (h.waiting) return false;
  if (ended != status::posted) report_end(h.what(), ended);
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
  held_events_.push_back(
      {e, std::vector(e.bytes.begin(), e.bytes.end()), random_.up_to(plan_.delay)});
}

void faulty_endpoint::report_end(op& o, status code) {
  if (o.kind != op_kind::send) report(event::kind_t::ended, code, o.to, &o);
}

void faulty_endpoint::report(event::kind_t kind, status code, remote_lane* peer, op* of,
                             std::string_view words) {
  const auto bytes = bytes_of(words);
  held_events_.push_back({{kind, code, peer, of, {}},
                          std::vector(bytes.begin(), bytes.end()),
                          random_.up_to(plan_.delay)});
}

std::size_t faulty_endpoint::deliver(std::span<event> out) {
  const std::size_t room =
      random_.percent(plan_.split) ? 1 + random_.up_to(out.size() - 1) : out.size();
  std::size_t n = 0;
  for (std::size_t i = 0; i < held_events_.size() && n < room;) {
    held_event& h = held_events_[i];
    if (h.polls != 0) --h.polls;
    const bool stays = h.polls != 0 || held_up(h.what, i) || random_.percent(plan_.reorder);
    if (stays)
      ++i;
    else
      lend(i, out[n++]);
  }
  return n;
}

/// Moves a held event out; its bytes stay valid until the next poll, and not a moment longer.
void faulty_endpoint::lend(std::size_t index, event& out) {
  held_event& h = held_events_[index];
  out = h.what;
  lent_.push_back(std::move(h.bytes));
  out.bytes = lent_.back();
  held_events_.erase(held_events_.begin() + static_cast<std::ptrdiff_t>(index));
}

/// Whether one of the first `before` held events has to come before `e`: only the ends of ops may
/// overtake.
bool faulty_endpoint::held_up(const event& e, std::size_t before) const noexcept {
  if (e.kind == event::kind_t::ended) return false;
  return std::any_of(held_events_.begin(),
                     held_events_.begin() + static_cast<std::ptrdiff_t>(before),
                     [&](const held_event& h) {
                       return h.what.from == e.from && h.what.kind != event::kind_t::ended;
                     });
}

bool faulty_endpoint::arm() noexcept {
  if (starved_) {
    starved_told_ = true;
    return false;
  }
  return armed_ = held_events_.empty() && only_waiting() && inner_->arm();
}

/// Whether every held op needs room at the inner endpoint, which then reports that room, or an
/// earlier op to go first that does.
bool faulty_endpoint::only_waiting() const noexcept {
  for (std::size_t i = 0; i < held_ops_.size(); ++i)
    if (!held_ops_[i].waiting && !blocked(held_ops_[i].what(), i)) return false;
  return true;
}

}  // namespace heddle::transport
