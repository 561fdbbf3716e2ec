// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/messages.h"

namespace heddle::transport::utofu {

// --- sending ---------------------------------------------------------------------------

status messages::send_any(peer_state& to, const message& m) noexcept {
  const std::size_t bytes = m.bytes();
  if (bytes > max_message) return status::invalid;
  const bool polled = to.out.polled();
  const std::size_t total =
      polled ? stamp_at(bytes) + sizeof(stamp_t) : sizeof(message_header) + bytes;
  const outgoing_ring::place at = to.out.next(total);
  if (!room_for(to, at.lines)) return status::busy_queue;
  if (polled && at.skipped != 0)  // a message of its own, then
    return mark_wrap(to, at) ? send_any(to, m) : status::busy_queue;
  const bool small = total <= max_piggyback;
  send_buffer::piece piece{nullptr, 0, buffer_.taken()};
  if (!small && !find_in_buffer(total, piece)) return status::busy_queue;
  std::array<std::byte, max_piggyback> inline_data;
  std::byte* const into = small ? inline_data.data() : piece.at;
  const stamp_t stamp = polled ? stamp_of(nonce_, to.out.position()) : 0;
  const auto mark = polled ? static_cast<std::uint16_t>(stamp) : m.tells_of;
  const message_header first{static_cast<std::uint16_t>(bytes), mark,
                             static_cast<std::uint32_t>(to.in.released())};
  std::memcpy(into, &first, sizeof first);
  std::memcpy(into + sizeof first, &m.head, sizeof m.head);
  std::byte* const rest = into + sizeof first + sizeof m.head;
  copy_few(rest, m.header);
  copy_few(rest + m.header.size(), m.data);
  if (polled) std::memcpy(into + stamp_at(bytes), &stamp, sizeof stamp);
  const bool ask = !queue_.listing() && is_due();
  work_request c;
  c.what = small ? work_request::form::piggyback : work_request::form::put;
  c.data = into;
  c.here = piece.address;
  c.to = to.vcq->with_path;
  c.there = at.address;
  c.bytes = total;
  c.edata = static_cast<std::uint8_t>(edata_message | (at.skipped != 0 ? edata_wrapped : 0));
  c.flags = m.order() |
            (polled ? UTOFU_ONESIDED_FLAG_STRONG_ORDER : UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE);
  if (ask) work_queue::ask_for_departure(c, piece.end);
  const status s = queue_.submit([&] { return c; });
  if (s != status::done) return s;
  buffer_.take(piece);
  sent(to, at.lines, ask);
  return s;
}

status messages::send_in_list(peer_state& to, op& o) noexcept {
  note& n = o.make_notes<note>();
  n.unasked = unasked_;
  n.taken = buffer_.taken();
  n.told = to.in.released() - to.in.untold();
  const std::uint64_t before = to.out.position();
  const status s = send(to, {o.head, o.header, o.memory});
  n.lines = static_cast<std::uint32_t>(to.out.position() - before);
  return s;
}

void messages::take_back(peer_state& to, const note& n) noexcept {
  buffer_.retreat(n.taken);
  unasked_ = n.unasked;
  to.out.retreat(n.lines);
  to.in.tell(n.told);
  queue_.window().vacate(n.lines);
}

/// Whether receivers have told by puts of their own that so many lines are free.
bool messages::has_room_now(peer_state& to, std::uint32_t lines) noexcept {
  credits_.read(to);
  if (queue_.window().crowded()) (void)credits_.read_all();
  return has_room(to, lines);
}

bool messages::find_in_buffer(std::size_t bytes, send_buffer::piece& out) noexcept {
  buffer_.free_up_to(queue_.left());
  if (buffer_.find(bytes, out)) [[likely]]
    return true;
  ask_for_departure();
  return false;
}

void messages::ask_for_departure() noexcept {
  if (unasked_ == 0 || queue_.listing() || !queue_.ask_for_departure(buffer_.taken())) return;
  ++asked_;
  asked_up_to_ = buffer_.taken();
  unasked_ = 0;
}

/// Tells a peer that polls its ring to go on at the beginning of it.
bool messages::mark_wrap(peer_state& to, const outgoing_ring::place& at) noexcept {
  const wrap_mark mark(stamp_of(nonce_, to.out.position()));
  static_assert(sizeof mark <= max_piggyback && sizeof mark <= line_bytes);
  work_request c;
  c.what = work_request::form::piggyback;
  c.to = to.vcq->with_path;
  c.there = to.out.address();
  c.data = &mark;
  c.bytes = sizeof mark;
  c.edata = edata_message;
  c.flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
  if (queue_.submit([&] { return c; }) != status::done) return false;
  to.out.advance(at.skipped);
  queue_.window().occupy(at.skipped);
  return true;
}

// --- receiving -------------------------------------------------------------------------

void messages::on_arrived(peer_state& from, bool wrapped) noexcept {
  if (from.lost || !from.in.is_open()) return;
  incoming_message m;
  if (!from.in.take(wrapped, m)) [[unlikely]]
    return peers_.lose(from);
  deliver(from, m);
}

inline void messages::deliver(peer_state& from, const incoming_message& m) noexcept {
  credits_.note_taken(from);
  credits_.heard(from, m.credits);
  // Without the array the put has failed, or nobody can see its bytes any more.
  if (m.tells_of != 0 && !exposed_.is_on_every_queue(m.tells_of)) [[unlikely]]
    return;
  events_.arrived(from, m.bytes);
}

void messages::look_at(peer_state& p) noexcept {
  incoming_message m;
  while (!p.lost && !events_.full() && p.in.look(m)) deliver(p, m);
  if (p.in.holds()) credits_.note_taken(p);  // also when it only wrapped
}

}  // namespace heddle::transport::utofu
