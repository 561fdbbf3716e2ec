// port_message.cpp - tagged messages and active messages that travel whole.
#include <algorithm>
#include <cstring>
#include <new>

#include "protocols/port.h"

namespace heddle::protocols {
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
  return c.kind == command_kind::send ? cost_of(c.memory.size()) : 0;
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

status port::receive(rank source, tag_match match, std::span<std::byte> into,
                     const completion& done, delivery_batch& out) {
  out_ = &out;
  if (source != any_source && !valid(source)) return status::invalid;
  if ((match.value & reserved_tag_bit) == 0) match.mask |= reserved_tag_bit;
  if (unexpected* found = matcher_.find_message(source, match)) {
    take_unexpected(into, done, *found);
    return status::posted;
  }
  link* const l = source == any_source ? nullptr : &link_to(source);
  if (l != nullptr && l->lost) return status::peer_lost;
  if (full()) return status::busy_records;
  matcher_.post(source, match, into, done);
  in_flight_.add();
  return status::posted;
}

void port::give_credit(link& l) {
  message m;
  m.kind = message_kind::credit;
  m.word = std::exchange(l.owed, 0);
  send_control(l, m);
}

void port::take_unexpected(std::span<std::byte> into, const completion& done, unexpected& found) {
  std::unique_ptr<unexpected> message = matcher_.take(found);
  link& from = link_to(message->source);
  if (message->announced) {
    --from.requests;
    begin_receive_fetch(from, into, done, message->tag, message->remote);
    return matcher_.recycle(std::move(message));
  }
  const std::size_t bytes = std::min<std::size_t>(message->bytes, into.size());
  if (bytes != 0) std::memcpy(into.data(), message->data(), bytes);
  out_->add(done, {message->bytes > bytes ? status::truncated : status::done, message->source,
                   message->tag, bytes});
  from.held -= message->credit;
  repay(from, message->credit);
  matcher_.recycle(std::move(message));
}

/// Ends a receive that gets no message.
void port::end_receive(posted_receive& r, status code) {
  const posted_receive& ended = take_receive(r);
  out_->add(ended.done, {.code = code, .peer = ended.source, .tag = 0, .bytes = 0});
}

void port::keep_unexpected(link& l, tag t, std::span<const std::byte> payload) {
  const std::uint64_t cost = cost_of(payload.size());
  if (l.held + cost > l.credit_limit) return violated(l);
  auto kept = matcher_.fresh();
  kept->source = l.peer;
  kept->tag = t;
  kept->credit = cost;
  kept->copy(payload);
  l.held += cost;
  counters_.unexpected.add();
  matcher_.keep(std::move(kept));
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
