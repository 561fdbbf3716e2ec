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
  const std::size_t bytes = o.header.size() + o.data.size();
  if (bytes > max_message) return refuse(o);
  outbox& out = c.out();
  if (!out.has_room(common_header + bytes)) return status::busy_queue;
  o.finished = status::done;
  if (bytes > copy_bytes && out.empty() && send_uncopied(o, c)) [[unlikely]]
    return status::done;
  std::byte* at = out.extend(common_header + bytes);
  at += write_message(at, narrow(bytes));
  append(append(at, o.header), o.data);
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
  return refuse(o);
}

post_result tcp_endpoint::post(std::span<op> ops) noexcept {
  status s = status::done;
  std::size_t accepted = 0;
  connection* last = nullptr;  // was appended to, and is not settled yet
  for (; accepted < ops.size(); ++accepted) {
    op& o = ops[accepted];
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
  write_message(head.data(), narrow(o.header.size() + o.data.size()));
  const std::array<std::span<const std::byte>, 3> parts{head, o.header, o.data};
  std::array<iovec, 3> out;
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
  const std::size_t bytes = o.data.size();
  if (bytes > copy_bytes) return post_large_put(o, c);
  outbox& out = c.out();
  if (!out.has_room(max_header + bytes) || !c.has_put_room() || shared_.records.available() == 0)
    return status::busy_queue;
  std::byte* at = out.extend(24 + bytes);
  at += write_put(at, flag_last, o.region.slot, o.region.generation, o.offset, narrow(bytes));
  append(at, o.data);
  o.finished = status::posted;
  shared_.records.push(out.unacknowledged, shared_.records.take(o, &c));
  mark_dirty(c);
  return status::done;
}

status tcp_endpoint::post_large_put(op& o, connection& c) noexcept {
  std::array<connection*, max_rails> ways;
  const std::size_t rails = rails_for(o, o.data.size(), ways);
  for (std::size_t r = 0; r < rails; ++r) {
    if (!ways[r]->out().has_transfer_room() || !ways[r]->has_put_room()) return status::busy_queue;
  }
  if (shared_.records.available() <= rails) return status::busy_queue;
  o.finished = status::posted;
  if (rails == 1) {
    c.out().add_put(shared_.records.take(o, &c), o.region, o.offset, o.data);
    mark_dirty(c);
    return status::done;
  }
  const record_id whole = shared_.records.take(o, nullptr);
  for (std::size_t r = 0; r < rails; ++r) {
    const std::size_t from = o.data.size() * r / rails, to = o.data.size() * (r + 1) / rails;
    ways[r]->out().add_put(shared_.records.take_part(whole, ways[r]), o.region, o.offset + from,
                           o.data.subspan(from, to - from));
    mark_dirty(*ways[r]);
    if (ways[r] != &c) settle(*ways[r]);
  }
  return status::done;
}

status tcp_endpoint::post_get(op& o, connection& c) noexcept {
  std::array<connection*, max_rails> ways;
  const std::size_t rails = rails_for(o, o.into.size(), ways);
  for (std::size_t r = 0; r < rails; ++r) {
    if (!ways[r]->has_request_room() || !ways[r]->out().has_room(max_header))
      return status::busy_queue;
  }
  if (shared_.records.available() <= rails) return status::busy_queue;
  o.finished = status::posted;
  if (rails == 1) {
    ask(c, shared_.records.take(o, &c), o, 0, o.into.size());
    return status::done;
  }
  const record_id whole = shared_.records.take(o, nullptr);
  for (std::size_t r = 0; r < rails; ++r) {
    const std::size_t from = o.into.size() * r / rails, to = o.into.size() * (r + 1) / rails;
    ask(*ways[r], shared_.records.take_part(whole, ways[r]), o, from, to - from);
    if (ways[r] != &c) settle(*ways[r]);
  }
  return status::done;
}

void tcp_endpoint::ask(connection& c, record_id id, const op& o, std::uint64_t from,
                       std::uint64_t bytes) noexcept {
  record& r = shared_.records[id];
  r.into = o.into.data() + from;
  r.bytes = bytes;
  std::byte* at = c.out().extend(32);
  write_get(at, id, o.region.slot, o.region.generation, o.offset + from, bytes);
  ++c.requests;
  mark_dirty(c);
}

status tcp_endpoint::post_atomic(op& o, connection& c) noexcept {
  const bool sized = o.width == 4 || o.width == 8;
  if (!sized || (!o.into.empty() && o.into.size() < o.width)) return refuse(o);
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
  o.finished = status::posted;
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
