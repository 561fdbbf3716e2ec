// SPDX-License-Identifier: BSD-3-Clause
#include "backends/faults/held_events.h"

#include <algorithm>
#include <utility>

namespace heddle::transport {
namespace {

constexpr std::size_t most_held_events = 256;

}  // namespace

bool held_events::full() const noexcept {
  return events_.size() >= most_held_events;
}

void held_events::hold(const event& e) {
  events_.push_back({e, std::vector(e.bytes.begin(), e.bytes.end()), random_.up_to(plan_.delay)});
}

std::size_t held_events::deliver(std::span<event> out) {
  if (out.empty()) return 0;
  const std::size_t room =
      random_.percent(plan_.split) ? 1 + random_.up_to(out.size() - 1) : out.size();
  std::size_t n = 0;
  for (std::size_t i = 0; i < events_.size() && n < room;) {
    held_event& h = events_[i];
    if (h.polls != 0) --h.polls;
    const bool stays = h.polls != 0 || held_up(h.what, i) || random_.percent(plan_.reorder);
    if (stays)
      ++i;
    else
      lend(i, out[n++]);
  }
  return n;
}

void held_events::lend(std::size_t index, event& out) {
  held_event& h = events_[index];
  out = h.what;
  lent_.push_back(std::move(h.bytes));
  out.bytes = lent_.back();
  events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(index));
}

/// Whether one of the first `before` events has to come before `e`: only the ends of ops may
/// overtake.
bool held_events::held_up(const event& e, std::size_t before) const noexcept {
  if (e.kind == event::kind_t::ended) return false;
  return std::any_of(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(before),
                     [&](const held_event& h) {
                       return h.what.from == e.from && h.what.kind != event::kind_t::ended;
                     });
}

void held_events::drop_messages_of(const remote_lane& peer) {
  std::erase_if(events_, [&](const held_event& h) {
    return h.what.kind == event::kind_t::arrived && h.what.from == &peer;
  });
}

}  // namespace heddle::transport
