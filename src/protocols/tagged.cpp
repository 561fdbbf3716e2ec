// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/tagged.h"

#include <cstring>
#include <utility>

#include "tracing/recorder.h"

namespace heddle::protocols {
namespace {

static_assert(sizeof(unexpected) < 2 * credit::cost_of(0));

}  // namespace

status tagged::begin(const command& c) {
  switch (c.kind) {
    case command_kind::match:
      return matched_.take_or_wait(c.peer, c.match, *c.taken, c.done);
    case command_kind::recv_taken:
      return receive_taken(*c.message, c.memory, c.done);
    default:
      return receive(c.peer, c.match, c.memory, c.done);
  }
}

status tagged::receive(rank source, tag_match match, std::span<std::byte> into,
                       const completion& done) {
  if (!peers_.may_be_source(source)) return status::invalid;
  match = of_one_kind(match);
  if (unexpected* found = matcher_.messages.find(source, match)) {
    deliver_unexpected(into, done, matcher_.messages.take(*found));
    return status::posted;
  }
  if (const status s = peers_.look_after(source); s != status::done) return s;
  if (ops_.room().full()) return status::busy_records;
  matcher_.receives.post(source, match, into, done);
  ops_.room().take();
  return status::posted;
}

void tagged::deliver_unexpected(std::span<std::byte> into, const completion& done,
                                unexpected& message) {
  peer& from = *message.from;
  if (message.announced) {
    --from.announcements;
    if (message.fetching != nullptr)
      early_fetches::take(*message.fetching, into, done);
    else
      begin_fetch(from, into, done, message.tag, message.data_at);
    return matcher_.messages.recycle(message);
  }
  const std::size_t bytes = std::min<std::size_t>(message.bytes, into.size());
  if (bytes != 0) std::memcpy(into.data(), message.data(), bytes);
  ops_.out().finish(done, from.received(message.bytes > bytes ? status::truncated : status::done,
                                        message.tag, bytes));
  early_.note_taken(message);
  from.credit.let_go(message.credit);
  if (message.credit != 0) flow_.repay(from, message.credit);
  if (message.early != 0) flow_.tell_taken(from, message.early);
  matcher_.messages.recycle(message);
}

void tagged::keep(peer& p, heddle::tag t, std::span<const std::byte> payload) {
  const std::uint64_t cost = credit::cost_of(payload.size());
  if (!p.credit.hold(cost)) return path_.violated(p);
  unexpected& kept = matcher_.messages.fresh();
  kept.source = p.number;
  kept.from = &p;
  kept.tag = t;
  kept.credit = cost;
  kept.copy(payload);
  if (matched_.give(kept)) return;
  counters_.unexpected.add();
  matcher_.messages.keep(kept);
}

void tagged::on_message(peer& from, const message& m) {
  m.kind == message_kind::tag_eager ? on_eager(from, m.word, m.payload) : on_rts(from, m);
}

// --- large messages --------------------------------------------------------------------

void tagged::on_rts(peer& p, const message& m) {
  if (posted_receive* found = matcher_.receives.find(p.number, m.word)) {
    const posted_receive& wanted = take(*found);
    return begin_fetch(p, wanted.into, wanted.done, m.word, announced_by(m));
  }
  if (p.announcements >= ops_.room().most_of_peer(peer::announcements_each))
    return path_.violated(p);
  unexpected& kept = matcher_.messages.fresh();
  kept.source = p.number;
  kept.from = &p;
  kept.tag = m.word;
  kept.announce(announced_by(m));
  ++p.announcements;
  if (matched_.give(kept)) return;
  counters_.unexpected.add();
  matcher_.messages.keep(kept);
  early_.begin(kept);
}

/// The receive becomes an operation in flight: it was accepted, so it gets its request in any case.
void tagged::begin_fetch(peer& p, std::span<std::byte> into, const completion& done, heddle::tag t,
                         const announcement& a) {
  rendezvous_.fetch(ops_.begin(&p, receive_command(p.number, t, into, done), *this), a, into);
}

void tagged::ended(request& r, status code) {
  code = rendezvous_.end_fetch(r, code);
  ops_.finish(r, rendezvous::received(r, code, r.local.size()));
}

// --- taken out of matching -------------------------------------------------------------

status tagged::receive_taken(unexpected& message, std::span<std::byte> into,
                             const completion& done) {
  unexpected& m = matched_.release(message);
  const bool unreachable = m.announced && m.fetching == nullptr && m.from->lost;
  const status failed = unreachable ? status::peer_lost : m.failed;
  if (failed == status::done) {
    deliver_unexpected(into, done, m);
  } else {
    ops_.out().finish(done, m.from->received(failed, m.tag, 0));
    matcher_.messages.recycle(m);
  }
  return status::posted;
}

// --- asking, and ends ------------------------------------------------------------------

status tagged::probe(rank source, tag_match match, outcome& found) noexcept {
  if (!peers_.may_be_source(source)) return status::invalid;
  const unexpected* m = matcher_.messages.find(source, of_one_kind(match));
  if (m == nullptr) return status::not_found;
  found = m->from->received(status::done, m->tag, static_cast<std::size_t>(m->bytes));
  return status::done;
}

status tagged::cancel(const completion& which) {
  posted_receive* r = matcher_.receives.find(which);
  if (r == nullptr) return status::not_found;
  end_receive(*r, status::canceled);
  return status::done;
}

/// Ends a receive that gets no message.
void tagged::end_receive(posted_receive& r, status code) {
  const posted_receive& ended = take(r);
  ops_.out().finish(ended.done, {.code = code, .peer = ended.source});
}

void tagged::end_receives(rank source, status code) {
  for (posted_receive* r : matcher_.receives.from(source)) end_receive(*r, code);
}

}  // namespace heddle::protocols
