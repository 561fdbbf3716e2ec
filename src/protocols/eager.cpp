// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/eager.h"

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
  const bool whole = c.memory.size() <= p.eager_bytes && cost <= p.credit;
  if (whole && !p.blocked && !path_.keeps_back(p)) {
    const status s = path_.post(p, head_for(c), c.header, c.memory);
    if (s == status::done) [[likely]] {
      p.credit -= cost;
      p.note_sent(c.memory.size());
      counters_.eager.add();
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
  p.credit -= cost;
  const status s = path_.submit(r);
  if (s != status::posted) note(p, s, c.memory.size(), cost);
  return s;
}

/// One has left, or never will.
void eager::note(peer& p, status code, std::size_t bytes, std::uint64_t cost) noexcept {
  if (code != status::done) {
    p.credit += cost;
    return;
  }
  p.note_sent(bytes);
  counters_.eager.add();
}

void eager::ended(request& r, status code) {
  note(*r.with, code, r.bytes, credit_of(r.what, r.bytes));
  ops_.finish(r, code);
}

void eager::on_message(peer& from, const message& credit) {
  const std::uint64_t bytes = credit.word;
  if (bytes > from.credit_limit - from.credit) return path_.violated(from);
  from.credit += bytes;
  if (trace::is_watched()) [[unlikely]]
    trace::note(trace::event_kind::credit_in, from.number, bytes);
}

}  // namespace heddle::protocols
