// port_event.cpp - what arrives, and the loop that moves a lane forward.
#include <array>

#include "protocols/cookie.h"
#include "protocols/port.h"

namespace heddle::protocols {
namespace {

/// An endpoint that had nothing this often in a row is looked at more rarely ...
constexpr std::uint32_t patience = 16;
/// ... namely every so many polls: a socket costs a system call, a ring a load.
constexpr std::uint32_t rarely = 32;

}  // namespace

std::size_t port::progress(delivery_batch& out) {
  out_ = &out;
  ++poll_number_;
  std::size_t count = 0;
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    if (!due(i)) continue;
    const std::size_t n = endpoints_[i]->poll(events_);
    for (std::size_t k = 0; k < n; ++k) on_event(events_[k]);
    empty_polls_[i] = n == 0 ? empty_polls_[i] + 1 : 0;
    count += n;
  }
  if (!blocked_.empty()) flush_blocked();
  if (!room_waiters_.empty() && !full()) wake_room_waiters();
  if (count != 0) counters_.events.add(count);
  return count;
}

/// Every endpoint is due while it has news; an idle one rarely, unless all are idle and there is
/// nothing better to do than to ask them.
bool port::due(std::size_t endpoint) noexcept {
  if (empty_polls_[endpoint] < patience || endpoints_.size() == 1) return true;
  if (poll_number_ % rarely == 0) return true;
  for (std::size_t i = 0; i < endpoint; ++i) {
    if (empty_polls_[i] < patience) return false;
  }
  for (std::size_t i = endpoint + 1; i < endpoints_.size(); ++i) {
    if (empty_polls_[i] < patience) return false;
  }
  return true;
}

void port::on_event(const transport::event& e) {
  if (e.kind == transport::event::kind_t::ended) return on_ended(e);
  if (!valid(e.peer)) return;
  link& l = link_to(e.peer);
  if (e.kind == transport::event::kind_t::peer_lost)
    return lose(l, {reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()});
  l.heard = true;
  message m;
  if (!parse_message(e.bytes, m)) return violated(l);
  on_message(l, m);
}

void port::on_ended(const transport::event& e) {
  if (is_access(e.cookie)) return end_access(access_of(e.cookie), e.code);
  record& r = record_of(e.cookie);
  if (!r.native) return;
  r.native = false;
  if (r.with != nullptr) r.with->heard = true;
  if (e.code == status::unsupported) return emulate(*r.with, r);  // not this region
  end(r, e.code);
}

void port::on_message(link& l, const message& m) {
  using kind = message_kind;
  switch (m.kind) {
    case kind::tag_eager:
      return on_tag_eager(l, m);
    case kind::tag_request:
      return on_tag_request(l, m);
    case kind::call_eager:
      return on_call_eager(l, m);
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
