// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/eager.h"

#include "base/clock.h"
#include "tracing/recorder.h"

namespace heddle::protocols {
namespace {

transport::message_head head_for(const command& c) noexcept {
  return c.kind == command_kind::send ? head_of_tagged(c.match.value)
                                      : head_of_call(c.handler, c.header.size());
}

}  // namespace

status eager::send(const command& c) {
  peer* const to = peers_.reach(aim_of(c));
  if (to == nullptr) return peers_.why_none(aim_of(c));
  peer& p = *to;
  if (p.lost) return status::peer_lost;
  if (!p.wire.to->listens) return status::invalid;
  const std::uint64_t cost = credit_of(c.kind, c.memory.size());
  const bool whole = c.memory.size() <= p.eager_bytes;
  if (whole && cost <= p.credit && !p.blocked && !path_.batch().keeps_back(p)) {
    const status s = path_.post(p, head_for(c), c.header, c.memory);
    if (s == status::done) [[likely]] {
      p.credit -= cost;
      note_sent(p, c.memory.size());
    }
    if (s != status::busy_queue) [[likely]]
      return s;
  }
  if (ops_.room().full()) return status::busy_records;
  if (!whole) return rendezvous_.send(p, c);
  request& r = ops_.begin(&p, c, *this);
  r.kind = transport::op_kind::send;
  r.head = head_for(c);
  r.header = c.header;
  r.memory = c.memory;
  r.paid = false;
  const status s = path_.submit(r);
  if (s == status::done) note_sent(p, c.memory.size());
  return s;
}

/// Takes the message's credit, and gives it to the wire. Without credit it waits for some, which an
/// active receiver gives back soon, and is announced when that takes too long.
status eager::start(request& r) {
  peer& p = *r.with;
  const std::uint64_t cost = credit_of(r.what, r.bytes);
  if (!r.paid && cost > p.credit)
    return waits_for_credit(p, cost) ? status::busy_queue : announce(r);
  if (!r.paid) p.credit -= cost;
  const status s = path_.post(r);
  r.paid = s == status::posted || s == status::done;
  if (!r.paid) p.credit += cost;
  return s;
}

bool eager::waits_for_credit(peer& p, std::uint64_t cost) noexcept {
  if (patience_ns_ == 0) return false;
  if (cost > p.credit_limit - p.credit_portion) return false;  // so much may never come
  if (!is_patient(p)) return false;
  awaits_credit_.set(true);
  return true;
}

/// As long as a thread would wait awake, unless nobody is going to look any more. Where the peer
/// receives, its threads may only be short of a core: an announcement is work for both sides, and
/// what is fetched ahead of them fills their caches.
bool eager::is_patient(peer& p) const noexcept {
  const std::uint64_t now = now_ns();
  if (p.no_credit_since_ns == 0) p.no_credit_since_ns = now;
  const std::uint64_t waited = now - p.no_credit_since_ns;
  if (p.credit_came_ns != 0 && now - p.credit_came_ns < lately * patience_ns_)
    return waited < patience_with_active * patience_ns_;
  return !path_.is_last_call() && waited < patience_ns_;
}

status eager::announce(request& r) {
  r.owner = &rendezvous_;
  return rendezvous_.start(r);
}

void eager::ended(request& r, status code) {
  if (code == status::done)
    note_sent(*r.with, r.bytes);
  else if (r.paid)
    r.with->credit += credit_of(r.what, r.bytes);
  ops_.finish(r, code);
}

void eager::on_message(peer& from, const message& credit) {
  const std::uint64_t bytes = credit.word;
  if (bytes > from.credit_limit - from.credit) return path_.violated(from);
  from.credit += bytes;
  from.no_credit_since_ns = 0;
  from.credit_came_ns = now_ns();
  if (trace::is_watched()) [[unlikely]]
    trace::note(trace::event_kind::credit_in, from.number, bytes);
}

}  // namespace heddle::protocols
