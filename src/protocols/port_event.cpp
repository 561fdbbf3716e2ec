// port_event.cpp - what arrives, and the loop that moves a lane forward.
#include <algorithm>
#include <array>

#include "base/copy.h"
#include "protocols/port.h"

namespace heddle::protocols {
namespace {

/// An endpoint that had nothing this often in a row is looked at more rarely ...
constexpr std::uint32_t patience = 16;
/// ... namely every so many polls: a socket costs a system call, a ring a load.
constexpr std::uint32_t rarely = 32;

}  // namespace

inline void port::on_tag_eager(link& l, tag t, std::span<const std::byte> payload) {
  const std::uint64_t cost = cost_of(payload.size());
  if (posted_receive* found = matcher_.find_receive(l.peer, t)) [[likely]] {
    const posted_receive& wanted = take_receive(*found);
    const std::size_t bytes = std::min(payload.size(), wanted.into.size());
    copy_few(wanted.into.data(), payload.first(bytes));
    const bool cut = payload.size() > bytes;
    out_->add(wanted.done, {cut ? status::truncated : status::done, l.peer, t, bytes});
    return repay(l, cost);
  }
  keep_unexpected(l, t, payload);
}

inline void port::on_call_eager(link& l, handler_id h, std::span<const std::byte> body,
                                std::size_t header_bytes) {
  const handler_entry* handler = where_.handlers[h].get();
  if (handler == nullptr) return counters_.unknown_handler.add();
  out_->add_call(lane_, *handler, l.peer, body, header_bytes);
}

/// The frequent messages are read where they lie, the others taken apart first.
inline void port::on_arrived(link& l, std::span<const std::byte> bytes) {
  if (bytes.size() >= base_bytes) [[likely]] {
    const transport::message_head head = read_head(bytes);
    const std::span<const std::byte> body = bytes.subspan(base_bytes);
    if (head.first == head_of_tagged(0).first) return on_tag_eager(l, head.word, body);
    // A call's header length lies above its handler's number; nothing else is set.
    const auto handler = static_cast<handler_id>(head.first >> 16);
    const auto header_bytes = static_cast<std::size_t>(head.first >> 32);
    if (head.first == head_of_call(handler, header_bytes).first && handler < max_handlers &&
        header_bytes <= max_call_header && header_bytes <= body.size())
      return on_call_eager(l, handler, body, header_bytes);
  }
  on_rare(l, bytes);
}

inline void port::on_event(const transport::event& e) {
  if (e.kind != transport::event::kind_t::arrived) return on_news(e);
  if (!valid(e.peer)) [[unlikely]]
    return;
  link& l = link_to(e.peer);
  l.heard = true;
  on_arrived(l, e.bytes);
}

/// Every endpoint is due while it has news; an idle one rarely, unless all are idle and there is
/// nothing better to do than to ask them.
bool port::due(std::size_t endpoint) noexcept {
  if (empty_polls_[endpoint] < patience) return true;
  if (poll_number_ % rarely == 0) return true;
  for (std::size_t i = 0; i < endpoint; ++i) {
    if (empty_polls_[i] < patience) return false;
  }
  for (std::size_t i = endpoint + 1; i < endpoints_.size(); ++i) {
    if (empty_polls_[i] < patience) return false;
  }
  return true;
}

std::size_t port::progress(delivery_batch& out) {
  out_ = &out;
  const std::size_t count = only_ != nullptr ? look_at(*only_) : look_at_those_due();
  if (blocked_.empty() && in_pieces_.empty() && room_waiters_.empty()) [[likely]]
    return count;
  return count + go_on();
}

inline std::size_t port::look_at(transport::endpoint& e) {
  const std::size_t n = e.poll(events_);
  if (n != 0) take_events(n);
  return n;
}

std::size_t port::look_at_those_due() {
  ++poll_number_;
  std::size_t count = 0;
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    if (!due(i)) continue;
    const std::size_t n = look_at(*endpoints_[i]);
    empty_polls_[i] = n == 0 ? empty_polls_[i] + 1 : 0;
    count += n;
  }
  return count;
}

void port::take_events(std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) on_event(events_[i]);
  counters_.events.add(n);
}

/// With what waits for room or for its turn. Returns how many things happened.
std::size_t port::go_on() {
  if (!blocked_.empty()) flush_blocked();
  const std::size_t moved = in_pieces_.empty() ? 0 : move_next_piece();
  if (!full()) wake_room_waiters();
  return moved;
}

void port::on_news(const transport::event& e) {
  if (e.kind == transport::event::kind_t::ended) return on_ended(e);
  if (valid(e.peer))
    lose(link_to(e.peer), {reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()});
}

void port::on_rare(link& l, std::span<const std::byte> bytes) {
  message m;
  parse_message(bytes, m) ? on_message(l, m) : violated(l);
}

void port::on_ended(const transport::event& e) {
  tracked& what = *static_cast<tracked*>(e.of);
  if (what.is_access) return end_access(static_cast<native_access&>(what), e.code);
  record& r = static_cast<record&>(what);
  if (!r.native) return;
  r.native = false;
  if (r.with != nullptr) r.with->heard = true;
  if (e.code == status::unsupported) {  // not this region
    r.issued = r.moved;
    return emulate(*r.with, r);
  }
  r.issued != r.moved ? end_piece(r, e.code) : end(r, e.code);
}

void port::on_message(link& l, const message& m) {
  using kind = message_kind;
  switch (m.kind) {
    case kind::tag_eager:
      return on_tag_eager(l, m.word, m.payload);
    case kind::tag_request:
      return on_tag_request(l, m);
    case kind::call_eager:  // its header and payload follow each other
      return on_call_eager(l, m.handler, {m.header.data(), m.header.size() + m.payload.size()},
                           m.header.size());
    case kind::call_request:
      return on_call_request(l, m);
    case kind::finished:
      return on_finished(l, m);
    case kind::credit:
      if (m.word > l.credit_limit - l.credit) return violated(l);
      l.credit += m.word;
      return;
    case kind::ping: {
      message answer;
      answer.kind = kind::pong;
      return send_control(l, answer);
    }
    case kind::pong:
      return;  // having heard it is all
    case kind::rma_put:
      return on_rma_put(l, m);
    case kind::rma_get:
      return send_control(l, m);  // kept and answered again when there is no room now
    case kind::rma_atomic:
      return on_rma_atomic(l, m);
    case kind::rma_data:
    case kind::rma_done:
    case kind::rma_value:
      return on_reply(l, m);
  }
}

}  // namespace heddle::protocols
