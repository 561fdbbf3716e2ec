// endpoint_path.cpp - posting operations: the path every op takes.
#include <algorithm>
#include <array>

#include "backends/tcp/endpoint.h"

namespace heddle::transport::tcp {
namespace {

std::uint32_t narrow(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>(bytes);
}

}  // namespace

// Writes, or leaves it to the next poll (see the header).
inline void tcp_endpoint::settle(connection& c) noexcept {
  if (!c.dirty || c.blocked) return;
  const bool urgent = c.flushed_in != epoch_ && c.owed() <= 1;
  if (urgent || c.out().buffered() >= gather_bytes) [[unlikely]]
    write_now(c);
}

void tcp_endpoint::write_now(connection& c) noexcept {
  c.flushed_in = epoch_;
  flush(c);
  if (c.out().empty() && dirty_.back() == &c) {  // as a rule: then idle() is true at once
    c.dirty = false;
    dirty_.pop_back();
  }
}

inline status tcp_endpoint::post_send(op& o, connection& c) noexcept {
  const std::size_t bytes = message_bytes(o);
  if (bytes > max_message) return status::invalid;
  outbox& out = c.out();
  if (!out.has_room(common_header + bytes)) return status::busy_queue;
  o.over = true;
  if (bytes > copy_bytes && out.empty() && send_uncopied(o, c)) [[unlikely]]
    return status::done;
  std::byte* at = out.extend(common_header + bytes);
  at += write_message(at, narrow(bytes));
  append(append(append(at, std::as_bytes(std::span(&o.head, 1))), o.header), o.memory);
  mark_dirty(c);
  return status::done;
}

inline status tcp_endpoint::post_on(connection& c, op& o) noexcept {
  switch (o.kind) {
    [[likely]] case op_kind::send : return post_send(o, c);
    case op_kind::put:
      return post_put(o, c);
    case op_kind::get:
      return post_get(o, c);
    case op_kind::atomic:
      return post_atomic(o, c);
  }
  return status::invalid;
}

post_result tcp_endpoint::post(std::span<op* const> ops) noexcept {
  status s = status::done;
  std::size_t accepted = 0;
  connection* last = nullptr;  // was appended to, and is not settled yet
  for (; accepted < ops.size(); ++accepted) {
    op& o = *ops[accepted];
    connection* c = route(o.peer);
    if (last != nullptr && last != c) settle(*last);
    last = c;
    s = c != nullptr ? post_on(*c, o) : begin_route(o);
    if (s != status::done) break;
  }
  if (s == status::busy_queue) refused_at_ = room();
  if (last != nullptr) settle(*last);
  return {accepted, s};
}

// Writes straight from the op's memory, and copies only what the socket does not take.
// False: it takes nothing, or is broken, which the next flush will find.
bool tcp_endpoint::send_uncopied(const op& o, connection& c) noexcept {
  std::array<std::byte, common_header> head;
  write_message(head.data(), narrow(message_bytes(o)));
  const std::array<std::span<const std::byte>, 4> parts{head, std::as_bytes(std::span(&o.head, 1)),
                                                        o.header, o.memory};
  std::array<iovec, 4> out;
  for (std::size_t i = 0; i < parts.size(); ++i)
    out[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
  const transferred t = transmit(c.fd(), out);
  if (t.kind != transferred::kind_t::some) return false;
  c.out().written += t.bytes;
  std::size_t skip = t.bytes;
  for (const auto& part : parts) {
    const auto rest = part.subspan(std::min(skip, part.size()));
    skip -= part.size() - rest.size();
    if (!rest.empty()) append(c.out().extend(rest.size()), rest);
  }
  if (c.out().empty()) return true;
  c.blocked = true;
  mark_dirty(c);
  return true;
}

status tcp_endpoint::post_put(op& o, connection& c) noexcept {
  const std::size_t bytes = o.memory.size();
  if (bytes > copy_bytes) return post_large_put(o, c);
  outbox& out = c.out();
  if (!out.has_room(max_header + bytes) || !c.has_put_room() || shared_.records.available() == 0)
    return status::busy_queue;
  std::byte* at = out.extend(24 + bytes);
  at += write_put(at, flag_last, o.region.slot, o.region.generation, o.offset, narrow(bytes));
  append(at, o.memory);
  shared_.records.push(out.unacknowledged, shared_.records.take(o, &c));
  mark_dirty(c);
  return status::done;
}

status tcp_endpoint::post_large_put(op& o, connection& c) noexcept {
  const auto has_room = [](connection* w) {
    return w->out().has_transfer_room() && w->has_put_room();
  };
  return spread(o, o.memory.size(), c, has_room,
                [&o](connection& w, record_id id, std::size_t from, std::size_t bytes) {
                  w.out().add_put(id, o.region, o.offset + from, o.memory.subspan(from, bytes));
                });
}

status tcp_endpoint::post_get(op& o, connection& c) noexcept {
  const auto has_room = [](connection* w) {
    return w->has_request_room() && w->out().has_room(max_header);
  };
  return spread(o, o.memory.size(), c, has_room,
                [&](connection& w, record_id id, std::size_t from, std::size_t bytes) {
                  shared_.records[id].into = o.memory.data() + from;
                  shared_.records[id].bytes = bytes;
                  write_get(w.out().extend(32), id, o.region.slot, o.region.generation,
                            o.offset + from, bytes);
                  ++w.requests;
                });
}

// Posts `o` in one part on each of the rails that it goes over, of which `c` is the first: all
// parts or none.
template <class HasRoom, class Begin>
status tcp_endpoint::spread(op& o, std::size_t bytes, connection& c, HasRoom has_room,
                            Begin begin) noexcept {
  std::array<connection*, max_rails> all;
  const std::span ways(all.data(), rails_for(o, bytes, all));
  if (!std::ranges::all_of(ways, has_room) || shared_.records.available() <= ways.size())
    return status::busy_queue;
  const bool split = ways.size() > 1;
  const record_id whole = shared_.records.take(o, split ? nullptr : &c);
  for (std::size_t r = 0; r < ways.size(); ++r) {
    connection& w = *ways[r];
    const std::size_t from = bytes * r / ways.size(), to = bytes * (r + 1) / ways.size();
    begin(w, split ? shared_.records.take_part(whole, &w) : whole, from, to - from);
    mark_dirty(w);
    if (&w != &c) settle(w);
  }
  return status::done;
}

status tcp_endpoint::post_atomic(op& o, connection& c) noexcept {
  const bool sized = o.width == 4 || o.width == 8;
  if (!sized || (!o.memory.empty() && o.memory.size() < o.width)) return status::invalid;
  if (!c.has_request_room() || !c.out().has_room(max_header) || shared_.records.available() == 0)
    return status::busy_queue;
  frame f;
  f.atomic = o.atomic;
  f.width = o.width;
  f.id = shared_.records.take(o, &c);
  f.slot = o.region.slot;
  f.generation = o.region.generation;
  f.offset = o.offset;
  f.operand = o.operand;
  f.compare = o.compare;
  write_atomic(c.out().extend(40), f);
  ++c.requests;
  mark_dirty(c);
  return status::done;
}

// The connections a transfer of `bytes` is split over: one, unless it is worth it.
std::size_t tcp_endpoint::rails_for(const op& o, std::size_t bytes,
                                    std::array<connection*, max_rails>& out) noexcept {
  const peer_state& p = *peers_[static_cast<std::size_t>(o.peer)];
  out[0] = p.out[0];
  std::size_t rails = 1;
  if (bytes < split_bytes) return rails;
  for (std::size_t r = 1; r < static_cast<std::size_t>(device_.rails()); ++r) {
    if (p.out[r] != nullptr) out[rails++] = p.out[r];
  }
  return rails;
}

}  // namespace heddle::transport::tcp
