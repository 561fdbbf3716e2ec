// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/connector.h"

#include <bit>
#include <new>

namespace heddle::transport::verbs {

std::uint32_t depth_of(const card& on) noexcept {
  return std::bit_floor(on.chosen().depth);
}

connector::~connector() {
  for (peer_lane* const p : peers_.all()) give_up(p->out);
}

void connector::connect(peer_lane& p) noexcept {
  stream& s = p.out;
  if (s.state != stream::state_t::unused) return;
  const std::uint32_t depth = depth_of(device_.port());
  s.qp = home_->queues.make_queue_pair(depth);
  if (s.qp == nullptr || device_.port().prepare(s.qp.get()) != 0)
    return peers_.lose(p,
                       "no queue pair could be made for it: the card has none left, or the limit "
                       "on locked memory (ulimit -l) is reached");
  try {
    s.flights.reserve(depth);
    s.our_psn = fresh_psn();
    s.question =
        device_.ask(p.process->facts, p.lane, home_, s.name.number(), {s.qp->qp_num, s.our_psn});
    s.state = stream::state_t::asking;
  } catch (const std::bad_alloc&) {
    s.qp.reset();  // it is tried again
  }
}

void connector::give_up(stream& s) noexcept {
  if (s.state == stream::state_t::asking) device_.forget(s.question);
}

bool connector::is_awaited(const peer_lane& p, const letter& l) noexcept {
  return p.out.state == stream::state_t::asking && p.out.question == l.question && !p.lost;
}

bool connector::begin(peer_lane& p, const letter& l) noexcept {
  if (!l.answer) {
    peers_.lose(p, "nobody answers there in time, or its lane has ended");
    return false;
  }
  const hello& a = *l.answer;
  if (device_.port().connect(p.out.qp.get(), p.process->facts.place, a.end, p.out.our_psn) != 0) {
    peers_.lose(p, "its port cannot be reached from this one");
    return false;
  }
  p.out.begin(a.inlet, a.window);
  return true;
}

}  // namespace heddle::transport::verbs
