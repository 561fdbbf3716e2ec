// SPDX-License-Identifier: BSD-3-Clause
// endpoint_path.cpp - posting operations: the path every op takes.
#include <utility>

#include "backends/tcp/endpoint.h"

namespace heddle::transport::tcp {
namespace {

/// The connection to the peer; null: there is none.
connection* route(const remote_lane& to) noexcept {
  return static_cast<const peer_lane&>(to).out;
}

}  // namespace

status tcp_endpoint::send(remote_lane& to, message_head head, std::span<const std::byte> header,
                          std::span<const std::byte> data) noexcept {
  connection* const c = route(to);
  if (c == nullptr || !c->join(head, header, data)) [[unlikely]]
    return send_rarely(to, head, header, data);
  return status::done;
}

status tcp_endpoint::send_rarely(remote_lane& to, message_head head,
                                 std::span<const std::byte> header,
                                 std::span<const std::byte> data) noexcept {
  connection* const c = route(to);
  if (c == nullptr || c->send(head, header, data) != status::done) return status::busy_queue;
  writer_.settle(*c);
  return status::done;
}

post_result tcp_endpoint::post(std::span<op* const> ops) noexcept {
  status s = status::done;
  std::size_t accepted = 0;
  connection* last = nullptr;  // was appended to, and is not settled yet
  for (; accepted < ops.size(); ++accepted) {
    op& o = *ops[accepted];
    connection* c = route(*o.to);
    if (last != nullptr && last != c) writer_.settle(*std::exchange(last, nullptr));
    s = c != nullptr ? begin(o, *c) : begin_route(static_cast<peer_lane&>(*o.to));
    if (s != status::done) break;
    last = c;
  }
  if (s == status::busy_queue) refused_at_ = shared_.room_made;
  if (last != nullptr) writer_.settle(*last);
  return {accepted, s};
}

status tcp_endpoint::begin(op& o, connection& c) noexcept {
  if (o.kind == op_kind::send) {
    const status s = c.send(o.head, o.header, o.memory);
    o.over = s == status::done;
    return s;
  }
  if (o.kind == op_kind::atomic &&
      ((o.width != 4 && o.width != 8) || (!o.memory.empty() && o.memory.size() < o.width)))
    return status::invalid;
  if (!c.ops().has_room_for(o)) return status::busy_queue;
  c.ops().begin(o);
  return status::done;
}

// For an op to a peer without a connection: connecting has begun, if it can.
status tcp_endpoint::begin_route(peer_lane& p) noexcept {
  if (p.is == peer_lane::life::known) {
    p.is = peer_lane::life::wanted;
    connector_.start(p);
  }
  return p.is == peer_lane::life::wanted ? status::busy_queue : status::peer_lost;
}

}  // namespace heddle::transport::tcp
