// port_message.cpp - tagged messages and active messages that travel whole.
#include <algorithm>
#include <cstring>
#include <new>

#include "protocols/port.h"

namespace heddle::protocols {
namespace {

/// What an unexpected message costs its receiver beside its bytes. Both sides count with it, and
/// docs/guide/concepts.md tells it: a number of the protocol, not of this program's memory.
constexpr std::uint64_t message_cost = 184;
static_assert(sizeof(unexpected) < 2 * message_cost);

}  // namespace

status port::send(const command& c) {
  return valid(c.peer) ? send_or_queue(c) : status::invalid;
}

status port::call(const command& c) {
  if (!valid(c.peer) || c.handler >= max_handlers || c.header.size() > max_call_header) {
    return status::invalid;
  }
  return send_or_queue(c);
}

/// Only tagged messages can be unexpected, so only they need credit; calls are run on arrival.
std::uint64_t port::credit_of(const command& c) noexcept {
  return c.kind == command_kind::send ? c.memory.size() + message_cost : 0;
}

status port::send_or_queue(const command& c) {
  link& l = link_to(c.peer);
  if (l.lost) return status::peer_lost;
  const std::uint64_t cost = credit_of(c);
  const bool eager = c.memory.size() <= l.eager_bytes && cost <= l.credit;
  if (eager && !l.blocked && batching_) [[unlikely]] {
    l.credit -= cost;
    batch_message(l, c);
    return status::posted;
  }
  if (eager && !l.blocked) {
    const status s = post_eager(l, c);
    if (s == status::done) [[likely]] {
      l.credit -= cost;
      counters_.eager.add();
    }
    if (s != status::busy_queue) [[likely]]
      return s;
  }
  if (full()) return status::busy_records;
  record& r = begin(&l, c);
  r.eager = eager;
  if (eager) l.credit -= cost;
  return start_or_queue(l, r);
}

status port::start_message(link& l, record& r) {
  const status s = post_eager(l, r.what);
  if (s == status::done)
    counters_.eager.add();
  else if (s != status::busy_queue)
    l.credit += credit_of(r.what);
  return s;
}

// --- receiving -------------------------------------------------------------------------

/// Never `done`: source, tag and length travel in the completion's outcome.
status port::receive(const command& c) {
  if (c.peer != any_source && !valid(c.peer)) return status::invalid;
  tag_match match = c.match;
  if ((match.value & reserved_tag_bit) == 0) match.mask |= reserved_tag_bit;
  if (unexpected* found = matcher_.find_message(c.peer, match)) {
    take_unexpected(c, *found);
    return status::posted;
  }
  link* l = c.peer == any_source ? nullptr : &link_to(c.peer);
  if (l != nullptr && l->lost) return status::peer_lost;
  if (full()) return status::busy_records;
  matcher_.post({.source = c.peer, .match = match, .into = c.memory, .done = c.done});
  if (l != nullptr) ++l->receives;
  note_in_flight();
  return status::posted;
}

void port::take_unexpected(const command& c, unexpected& found) {
  std::unique_ptr<unexpected> message = matcher_.take(found);
  link& from = link_to(message->source);
  if (message->announced) {
    --from.requests;
    begin_receive_fetch(from, c.memory, c.done, message->tag, message->remote);
    return matcher_.recycle(std::move(message));
  }
  const std::size_t bytes = std::min<std::size_t>(message->bytes, c.memory.size());
  if (bytes != 0) std::memcpy(c.memory.data(), message->data(), bytes);
  out_->add(c.done, {message->bytes > bytes ? status::truncated : status::done, message->source,
                     message->tag, bytes});
  from.held -= message->credit;
  repay(from, message->credit);
  matcher_.recycle(std::move(message));
}

posted_receive port::take_receive(posted_receive& found) {
  if (found.source != any_source) --link_to(found.source).receives;
  const posted_receive taken = matcher_.take(found);
  note_in_flight();
  return taken;
}

/// Ends a receive that gets no message.
void port::end_receive(posted_receive& r, status code) {
  const posted_receive ended = take_receive(r);
  out_->add(ended.done, {.code = code, .peer = ended.source, .tag = 0, .bytes = 0});
}

void port::on_tag_eager(link& l, const message& m) {
  const std::uint64_t cost = m.payload.size() + message_cost;
  if (posted_receive* found = matcher_.find_receive(l.peer, m.word)) {
    const posted_receive wanted = take_receive(*found);
    const std::size_t bytes = std::min(m.payload.size(), wanted.into.size());
    if (bytes != 0) std::memcpy(wanted.into.data(), m.payload.data(), bytes);
    const bool cut = m.payload.size() > bytes;
    out_->add(wanted.done, {cut ? status::truncated : status::done, l.peer, m.word, bytes});
    return repay(l, cost);
  }
  if (l.held + cost > l.credit_limit) return violated(l);
  auto kept = matcher_.fresh();
  kept->source = l.peer;
  kept->tag = m.word;
  kept->credit = cost;
  kept->copy(m.payload);
  l.held += cost;
  counters_.unexpected.add();
  matcher_.keep(std::move(kept));
}

/// Gives credit back in portions: one message for many.
void port::repay(link& l, std::uint64_t cost) {
  l.owed += cost;
  if (l.owed < l.credit_limit / 4 || l.lost) return;
  message m;
  m.kind = message_kind::credit;
  m.word = std::exchange(l.owed, 0);
  send_control(l, m);
}

void port::on_call_eager(link& l, const message& m) {
  const handler_entry* handler = where_.handlers[m.handler].get();
  if (handler == nullptr) return counters_.unknown_handler.add();
  out_->add_call(lane_, *handler, l.peer, m.header, m.payload);
}

status port::probe(rank source, tag_match match, outcome& found) noexcept {
  if (source != any_source && !valid(source)) return status::invalid;
  if ((match.value & reserved_tag_bit) == 0) match.mask |= reserved_tag_bit;
  const unexpected* m = matcher_.find_message(source, match);
  if (m == nullptr) return status::not_found;
  found = {status::done, m->source, m->tag, static_cast<std::size_t>(m->bytes)};
  return status::done;
}

status port::cancel(const completion& which, delivery_batch& out) {
  out_ = &out;
  posted_receive* r = matcher_.find_receive(which);
  if (r == nullptr) return status::not_found;
  end_receive(*r, status::canceled);
  return status::done;
}

}  // namespace heddle::protocols
