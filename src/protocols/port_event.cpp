// SPDX-License-Identifier: BSD-3-Clause
// port_event.cpp - what arrives, and the loop that moves a lane forward.
#include <array>

#include "protocols/port.h"
#include "tracing/recorder.h"

namespace heddle::protocols {
namespace {

/// An endpoint that had nothing this often in a row is looked at more rarely ...
constexpr std::uint32_t patience = 16;
/// ... namely every so many polls: a socket costs a system call, a ring a load.
constexpr std::uint32_t rarely = 32;

}  // namespace

/// The frequent messages are read where they lie, the others taken apart first.
inline void port::on_arrived(peer& p, std::span<const std::byte> bytes) {
  if (bytes.size() >= base_bytes) [[likely]] {
    const transport::message_head head = read_head(bytes);
    const std::span<const std::byte> body = bytes.subspan(base_bytes);
    if (head.first == head_of_tagged(0).first) return tagged_.on_eager(p, head.word, body);
    // A call's header length lies above its handler's number; nothing else is set.
    const auto handler = static_cast<handler_id>(head.first >> 16);
    const auto header_bytes = static_cast<std::size_t>(head.first >> 32);
    if (head.first == head_of_call(handler, header_bytes).first && handler < max_handlers &&
        header_bytes <= max_call_header && header_bytes <= body.size())
      return calls_.on_eager(p, handler, body, header_bytes);
  }
  on_rare(p, bytes);
}

void port::on_rare(peer& p, std::span<const std::byte> bytes) {
  message m;
  if (!parse_message(bytes, m)) return path_.violated(p);
  kinds_[index_of(m.kind)]->on_message(p, m);
}

inline void port::on_event(const transport::event& e) {
  if (e.kind != transport::event::kind_t::arrived) return on_news(e);
  auto* p = static_cast<peer*>(e.from->user);
  if (p == nullptr) [[unlikely]] {
    p = meet(*e.from);
    if (p == nullptr) return;
  }
  p->heard = true;
  ++p->received_messages;
  p->received_bytes += e.bytes.size();
  on_arrived(*p, e.bytes);
}

void port::on_news(const transport::event& e) {
  if (e.kind == transport::event::kind_t::ended) {
    request& r = static_cast<request&>(*e.of);
    return r.at == stage::direct ? ops_.end_direct(r, e.code) : transfers_.wire_ended(r, e.code);
  }
  if (peer* const p = meet(*e.from); p != nullptr)
    liveness_.left(*p, *e.from, e.code,
                   {reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()});
}

/// From now on the peer is found in what its wire gives with its messages.
peer* port::meet(transport::remote_lane& from) {
  peer* const p = peers_.reach({from.peer, from.lane});
  from.user = p;
  return p;
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

/// One copy, for both that follow.
[[gnu::noinline]] void port::handle_events(std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) on_event(events_[i]);
  counters_.events.add(n);
}

void port::take_events(std::size_t n) {
  if (trace::is_watched()) [[unlikely]]
    return take_watched_events(n);
  handle_events(n);
}

[[gnu::noinline]] void port::take_watched_events(std::size_t n) {
  trace::span turn(trace::event_kind::turn, {where_.self, where_.lane}, true);
  turn.set_amount(n);
  handle_events(n);
}

/// With what waits for room or for its turn. Returns how many things happened.
std::size_t port::go_on() {
  if (path_.blocked()) path_.flush_blocked();
  pieces& turns = transfers_.by_turns();
  const std::size_t moved = turns.none() ? 0 : turns.move_next();
  ops_.tell_of_room();
  return moved;
}

}  // namespace heddle::protocols
