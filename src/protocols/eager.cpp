// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/eager.h"

namespace heddle::protocols {
namespace {

transport::message_head head_for(const command& c) noexcept {
  return c.kind == command_kind::send ? head_of_tagged(c.match.value)
                                      : head_of_call(c.handler, c.header.size());
}

}  // namespace

status eager::begin(const command& c) {
  const bool is_call = c.kind == command_kind::call;
  if (is_call && (c.handler >= max_handlers || c.header.size() > max_call_header))
    return status::invalid;
  peer* const to = peers_.reach(aim_of(c));
  if (to == nullptr) return peers_.why_none(aim_of(c));
  peer& p = *to;
  if (p.lost) return status::peer_lost;
  if (!p.wire.to->listens) return status::invalid;
  const std::uint64_t cost = credit_of(c.kind, c.memory.size());
  const bool whole = c.memory.size() <= p.eager_bytes;
  if (whole && p.credit.covers(cost) && !p.blocked && !path_.batch().keeps_back(p)) {
    const status s = path_.post(p, head_for(c), c.header, c.memory);
    if (s == status::done) [[likely]] {
      p.credit.take(cost);
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
  if (!r.paid && !p.credit.covers(cost))
    return flow_.waits(p, cost) ? status::busy_queue : announce(r);
  if (!r.paid) p.credit.take(cost);
  r.paid = true;  // before it is posted: one that fills the batch may be over on return
  const status s = path_.post(r);
  if (s == status::posted || s == status::done) return s;
  r.paid = false;
  p.credit.take_back(cost);
  return s;
}

status eager::announce(request& r) {
  r.owner = &rendezvous_;
  return rendezvous_.start(r);
}

void eager::ended(request& r, status code) {
  if (code == status::done)
    note_sent(*r.with, r.bytes);
  else if (r.paid)
    r.with->credit.take_back(credit_of(r.what, r.bytes));
  ops_.finish(r, code);
}

}  // namespace heddle::protocols
