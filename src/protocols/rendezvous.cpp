// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/rendezvous.h"

#include <algorithm>
#include <utility>

namespace heddle::protocols {
namespace {

/// Calls function(device) for each that is a way to the peer: it may read over all its rails.
template <class F>
void each_way(const surroundings& where, const peer& p, F function) {
  for (std::size_t d = 0; d < where.devices.size(); ++d) {
    const bool rail = !where.backends.empty() && where.backends[d] == where.backends[p.device];
    if (rail || d == p.device) function(*where.devices[d]);
  }
}

}  // namespace

// --- the sender ------------------------------------------------------------------------

status rendezvous::send(peer& to, const command& c) {
  request& r = ops_.begin(&to, c, *this);
  r.kind = transport::op_kind::send;
  r.memory = c.memory;
  r.header = c.header;
  return path_.submit(r);
}

/// Makes the data readable for the peer: as part of a region that is there anyway, so that the peer
/// may know it or map it, or as a region of its own.
void rendezvous::lend(request& r, message& rts) {
  const std::span<std::byte> data = r.memory;
  if (const auto known = where_.regions->find_lasting(data); allows(known.allowed, rights::read)) {
    rts.slot = known.ref.slot;
    rts.generation = known.ref.generation;
    rts.offset = static_cast<std::uint64_t>(data.data() - known.memory.data());
    rts.flag = known.on.memfd >= 0 ? 1 : 0;
    return;
  }
  if (r.lent.generation == 0) {
    const auto region =
        where_.regions->add(data, rights::read, {}, static_cast<std::size_t>(where_.lane));
    r.lent = region.ref;
    if (r.lent.generation != 0)
      each_way(where_, *r.with, [&](transport::device& d) { d.expose(region); });
  }
  rts.place = where_.devices[r.with->device]->place_of(r.lent);
  rts.slot = r.lent.slot;
  rts.generation = r.lent.generation;
}

/// `read`: the peer has read it. One that has not may do so still, if it lives: it was given up.
void rendezvous::take_back(request& r, bool read) {
  const memory::region_ref lent = std::exchange(r.lent, {});
  if (lent.generation == 0) return;
  const memory::local_region region{.ref = lent, .memory = r.memory, .allowed = rights::read};
  each_way(where_, *r.with,
           [&](transport::device& d) { read ? d.withdraw(region) : d.revoke(region); });
  where_.regions->remove(lent);
}

/// Whether the receiver is sent the data when it has a place for it, instead of reading it.
bool rendezvous::delivers(const request& r) noexcept {
  using enum transport::op_kind;
  const peer& p = *r.with;
  return !p.takes(get) && p.takes(receive) && p.takes(deliver) && r.memory.size() <= p.max_op;
}

status rendezvous::start(request& r) {
  if (r.kind == transport::op_kind::deliver) return path_.post(r);
  message m;
  const bool tagged = r.what == command_kind::send;
  m.kind = tagged ? message_kind::tag_rts : message_kind::call_rts;
  m.word = r.tag;
  m.handler = tagged ? handler_id{0} : r.handler;
  m.header = r.header;
  m.bytes = r.memory.size();
  m.id = r.id();
  if (m.bytes != 0 && !delivers(r)) {
    lend(r, m);
    if (m.generation == 0) return status::busy_queue;  // no region left: later
  }
  const status s = path_.post(*r.with, m);
  if (s == status::busy_queue) return s;
  if (s != status::done) {
    take_back(r, true);  // nobody has heard of it
    return s;
  }
  counters_.rendezvous.add();
  r.at = stage::reply;
  return status::posted;
}

void rendezvous::ended(request& r, status code) {
  take_back(r, code == status::done);
  ops_.finish(r, code);
}

void rendezvous::on_message(peer& from, const message& m) {
  request* const r = ops_.pool().find(m.word, from);
  if (r == nullptr || r->owner != this || r->at != stage::reply)
    return;  // ended meanwhile, or not ours to end
  if (m.kind == message_kind::cts) return deliver(*r, m);
  take_in_hand(*r);
  ended(*r, status_of(m.flag));
}

void rendezvous::deliver(request& r, const message& cts) {
  if (!delivers(r) || cts.bytes == 0 || cts.bytes > r.memory.size()) return path_.violated(*r.with);
  take_in_hand(r);
  r.kind = transport::op_kind::deliver;
  r.by = carrier::deliveries;
  r.memory = r.memory.first(cts.bytes);
  r.operand = cts.id;
  path_.resume(r);
}

// --- the receiver ----------------------------------------------------------------------

void rendezvous::fetch(request& r, const announcement& a, std::span<std::byte> into) {
  r.kind = transport::op_kind::get;
  r.region = a.ref;
  r.base = a.offset;
  r.place = a.place;
  r.local = into.first(std::min<std::size_t>(into.size(), a.bytes));
  r.mappable = a.mappable;
  r.sender_id = a.id;
  r.message_bytes = a.bytes;
  if (r.local.empty()) return r.owner->ended(r, status::done);
  if (a.ref.generation == 0) {
    if (!r.with->takes(transport::op_kind::receive) || a.bytes > r.with->max_op) {
      path_.violated(*r.with);
      return r.owner->ended(r, status::peer_lost);
    }
    r.kind = transport::op_kind::receive;
    r.by = carrier::deliveries;
    r.memory = r.local;
    r.operand = r.id();
  }
  path_.resume(r);
}

/// The sender delivers only where it is expected.
status rendezvous::start_receive(request& r) {
  const status s = path_.post(r);
  if (s != status::posted) return s;
  message m;
  m.kind = message_kind::cts;
  m.word = r.sender_id;
  m.id = r.operand;
  m.bytes = r.memory.size();
  path_.control(*r.with, m);
  return s;
}

status rendezvous::end_fetch(request& r, status code) {
  if (r.by == carrier::deliveries) return code;  // the sender has the end of its delivery
  // Only a sender that has given this rank up, or has left, takes away what it has announced.
  if (code == status::withdrawn || code == status::denied || code == status::out_of_bounds)
    code = status::peer_lost;
  message m;
  m.kind = message_kind::fin;
  m.word = r.sender_id;
  m.flag = static_cast<std::uint8_t>(code);
  path_.control(*r.with, m);
  return code;
}

outcome rendezvous::received(const request& r, status code, std::size_t room) noexcept {
  if (code != status::done) return r.with->received(code, r.tag, 0);
  const bool cut = r.message_bytes > room;
  return r.with->received(cut ? status::truncated : status::done, r.tag,
                          cut ? room : static_cast<std::size_t>(r.message_bytes));
}

}  // namespace heddle::protocols
