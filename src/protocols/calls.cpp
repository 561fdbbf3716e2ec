// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/calls.h"

#include <array>
#include <cstring>
#include <utility>

namespace heddle::protocols {
namespace {

/// Memory for large calls being fetched at one time; one call of any size is always let in.
constexpr std::uint64_t most_bytes = 64 << 20;

}  // namespace

void calls::on_message(peer& from, const message& m) {
  if (m.kind == message_kind::call_rts) return on_rts(from, m);
  // Its header and payload follow each other.
  on_eager(from, m.handler, {m.header.data(), m.header.size() + m.payload.size()}, m.header.size());
}

/// A call without a handler that is told of all of it at once, when it was looked for.
void calls::on_other(peer& p, handler_id h, std::span<const std::byte> body,
                     std::size_t header_bytes) {
  if (const handler_entry* const handler = where_.header_handlers[h].get()) {
    unexpected& payload = held_.fresh(p);
    payload.copy(body.subspan(header_bytes));
    return tell_header(p, *handler, body.first(header_bytes), payload);
  }
  // Whoever sets one kind in place of the other does it before that one goes.
  if (const handler_entry* const handler = where_.handlers[h].get())
    return ops_.out().add_call(lane_, *handler, p.address(), body, header_bytes);
  counters_.unknown_handler.add();
}

void calls::tell_header(peer& p, const handler_entry& handler, std::span<const std::byte> header,
                        unexpected& payload) {
  const held_payload held{held_.hold(payload), &lane_};
  std::array<std::byte, max_call_header + sizeof held> body;
  if (!header.empty()) std::memcpy(body.data(), header.data(), header.size());
  std::memcpy(body.data() + header.size(), &held, sizeof held);
  ops_.out().add_call(lane_, handler, p.address(),
                      std::span(body).first(header.size() + sizeof held), header.size());
}

status calls::say(peer& to, const message& m) {
  const auto value = std::as_bytes(std::span(&m.operand, 1));
  return path_.post(to, head_of_call(m.handler, value.size()), value, {});
}

void calls::on_rts(peer& p, const message& m) {
  if (p.announcements >= ops_.room().most_of_peer(peer::announcements_each))
    return path_.violated(p);
  if (const handler_entry* const handler = where_.header_handlers[m.handler].get()) {
    unexpected& payload = held_.fresh(p);
    payload.announce(announced_by(m));
    ++p.announcements;
    return tell_header(p, *handler, m.header, payload);
  }
  command c;
  c.kind = command_kind::call;
  c.peer = p.number;
  c.handler = m.handler;
  request& r = ops_.begin(&p, c, *this);
  const announcement a = announced_by(m);
  r.region = a.ref;
  r.base = a.offset;
  r.place = a.place;
  r.sender_id = a.id;
  r.message_bytes = a.bytes;
  r.mappable = a.mappable;
  r.call_header = std::make_unique<std::byte[]>(max_call_header);
  if (!m.header.empty()) std::memcpy(r.call_header.get(), m.header.data(), m.header.size());
  r.header = {r.call_header.get(), m.header.size()};
  ++p.announcements;
  deferred_.add(r);
  r.at = stage::deferred;
  start_deferred();
}

/// Not re-entered from the calls it starts: a long queue must not become a deep stack.
void calls::start_deferred() {
  if (std::exchange(starting_, true)) return;
  start_those_that_fit();
  starting_ = false;
}

void calls::start_those_that_fit() {
  while (!deferred_.empty()) {
    if (bytes_ != 0 && bytes_ + deferred_.front()->message_bytes > most_bytes) return;
    begin_fetch(deferred_.take_first());
  }
}

void calls::begin_fetch(request& r) {
  --r.with->announcements;
  const std::uint64_t bytes = r.message_bytes;
  const bool known = where_.handlers[r.handler].get() != nullptr ||
                     where_.header_handlers[r.handler].get() != nullptr;
  if (!known) counters_.unknown_handler.add();
  if (known) r.payload = ops_.out().payloads().take(bytes);
  if (r.payload == nullptr) return ended(r, known ? status::no_memory : status::done);
  bytes_ += bytes;
  rendezvous_.fetch(r, {r.region, r.base, bytes, r.sender_id, r.mappable, r.place},
                    {r.payload.get(), bytes});
}

void calls::ended(request& r, status code) {
  code = rendezvous_.end_fetch(r, code);
  const std::uint64_t bytes = r.payload != nullptr ? r.message_bytes : 0;
  if (r.payload != nullptr && code == status::done) deliver(r);
  ops_.release(r);
  bytes_ -= bytes;
  start_deferred();
}

/// To the handler that there is now: since the call was announced one may have been set that is
/// told of the header first, or none is left.
void calls::deliver(request& r) {
  if (const handler_entry* const handler = where_.handlers[r.handler].get())
    return ops_.out().add_call(lane_, *handler, r.with->address(), r.header, std::move(r.payload),
                               r.message_bytes);
  const handler_entry* const handler = where_.header_handlers[r.handler].get();
  if (handler == nullptr) return counters_.unknown_handler.add();
  unexpected& payload = held_.fresh(*r.with);
  payload.bytes = r.message_bytes;
  payload.large = std::move(r.payload);
  tell_header(*r.with, *handler, r.header, payload);
}

}  // namespace heddle::protocols
