// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/arrivals.h"

#include "tracing/recorder.h"

namespace heddle::protocols {

/// The frequent messages are read where they lie, the others taken apart first.
inline void arrivals::on_message(peer& from, std::span<const std::byte> bytes) {
  if (bytes.size() >= base_bytes) [[likely]] {
    const transport::message_head head = read_head(bytes);
    const std::span<const std::byte> body = bytes.subspan(base_bytes);
    if (head.first == head_of_tagged(0).first) return tagged_.on_eager(from, head.word, body);
    // A call's kind has its handler's number above it, and above that its header's length.
    const auto kind = static_cast<std::uint16_t>(head.first);
    const auto handler = static_cast<handler_id>(head.first >> 16);
    const auto header_bytes = static_cast<std::size_t>(head.first >> 32);
    if (kind == head_of_call(0, 0).first && handler < max_handlers &&
        header_bytes <= max_call_header && header_bytes <= body.size())
      return calls_.on_eager(from, handler, body, header_bytes);
  }
  on_rare_message(from, bytes);
}

void arrivals::on_rare_message(peer& from, std::span<const std::byte> bytes) {
  message m;
  if (!parse_message(bytes, m)) return path_.violated(from);
  kinds_[index_of(m.kind)]->on_message(from, m);
}

void arrivals::on_change(const transport::event& e) {
  if (e.kind == transport::event::kind_t::ended) {
    request& r = static_cast<request&>(*e.of);
    return r.at == stage::direct ? ops_.end_direct(r, e.code) : transfers_.wire_ended(r, e.code);
  }
  if (peer* const p = meet(*e.from); p != nullptr)
    liveness_.left(*p, *e.from, e.code,
                   {reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()});
}

/// From now on the peer is found in what its wire gives with its messages. Null: there is no memory
/// for it, or it is lost, and nothing is taken from it any more.
peer* arrivals::meet(transport::remote_lane& from) {
  peer* const p = peers_.reach({from.peer, from.lane});
  if (p == nullptr || p->lost) return nullptr;
  from.user = p;
  return p;
}

inline void arrivals::take_one(const transport::event& e) {
  if (e.kind != transport::event::kind_t::arrived) return on_change(e);
  auto* p = static_cast<peer*>(e.from->user);
  if (p == nullptr) [[unlikely]] {
    p = meet(*e.from);
    if (p == nullptr) return;
  }
  p->heard = true;
  ++p->received_messages;
  p->received_bytes += e.bytes.size();
  on_message(*p, e.bytes);
}

/// One copy, for both that follow.
void arrivals::take_all(std::span<const transport::event> news) {
  for (const transport::event& e : news) take_one(e);
  counters_.events.add(news.size());
}

void arrivals::take(std::span<const transport::event> news) {
  if (trace::is_watched()) [[unlikely]]
    return take_watched(news);
  take_all(news);
}

void arrivals::take_watched(std::span<const transport::event> news) {
  trace::span turn(trace::event_kind::turn, {where_.self, where_.lane}, true);
  turn.set_amount(news.size());
  take_all(news);
}

}  // namespace heddle::protocols
