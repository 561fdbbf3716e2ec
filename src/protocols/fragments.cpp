// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/fragments.h"

#include <algorithm>
#include <cstring>

#include "sync/put_word.h"

namespace heddle::protocols {
namespace {

using transport::op_kind;

/// Fragments of one operation in flight.
constexpr std::uint64_t window = 8;

message access_message(message_kind kind, const request& r) {
  message m;
  m.kind = kind;
  m.word = r.id();
  m.slot = r.region.slot;
  m.generation = r.region.generation;
  m.offset = r.base + r.issued;
  return m;
}

}  // namespace

status fragments::post_atomic(const request& r) {
  message m = access_message(message_kind::rma_atomic, r);
  m.flag = static_cast<std::uint8_t>(r.atomic);
  m.width = r.width;
  m.operand = r.operand;
  m.compare = r.compare;
  return path_.post(*r.with, m);
}

status fragments::post_fragment(request& r) {
  const bool get = r.kind == op_kind::get;
  const std::uint64_t bytes =
      std::min<std::uint64_t>(r.with->max_payload, r.local.size() - r.issued);
  message m = access_message(get ? message_kind::rma_get : message_kind::rma_put, r);
  m.bytes = bytes;
  const auto data = get ? std::span<std::byte>{} : r.local.subspan(r.issued, bytes);
  const status s = path_.post(*r.with, m, data);
  if (s == status::done) r.issued += bytes;
  return s;
}

status fragments::start(request& r) {
  const bool atomic = r.kind == op_kind::atomic;
  if (r.issued == 0) counters_.emulated.add();
  if (atomic) {
    if (const status s = post_atomic(r); s != status::done) return s;
  }
  const std::uint64_t total = atomic ? 0 : r.local.size();
  const std::uint64_t most = window * r.with->max_payload;
  while (r.issued < total && r.failure == status::done && r.issued - r.moved < most) {
    const status s = post_fragment(r);
    if (s == status::busy_queue) return s;
    if (s != status::done) r.failure = s;
  }
  if (r.failure != status::done && r.issued == r.moved) return r.failure;
  r.at = stage::reply;
  return status::posted;
}

status fragments::start_on_wire(request& r) {
  r.memory = r.local;
  r.offset = r.base;
  const status s = path_.post(r);
  if (s != status::unsupported) return s;
  r.by = carrier::messages;
  return start(r);
}

void fragments::on_message(peer& from, const message& m) {
  request* const r = ops_.pool().find(m.word, from);
  if (r == nullptr || r->by != carrier::messages) return;
  if (r->at != stage::reply && r->at != stage::backlog) return;
  const status code = status_of(m.flag);
  if (m.kind == message_kind::rma_value) {
    if (r->kind == op_kind::atomic && r->at == stage::reply) on_value(*r, m, code);
  } else if (r->issued != r->moved) {
    on_fragment(*r, m, code);
  }
}

void fragments::on_value(request& r, const message& m, status code) {
  if (code == status::done && !r.local.empty())
    std::memcpy(r.local.data(), &m.value, r.local.size());
  take_in_hand(r);
  r.owner->ended(r, code);
}

void fragments::on_fragment(request& r, const message& m, status code) {
  peer& p = *r.with;
  const bool get = r.kind == op_kind::get;
  const std::uint64_t at = m.position - r.base;  // get: where the payload belongs
  const std::uint64_t bytes = std::min<std::uint64_t>(p.max_payload, r.issued - r.moved);
  if (code != status::done) r.failure = code;
  if (get && code == status::done) {
    const std::size_t size = r.local.size();
    if (at > size || m.payload.size() > size - at || m.payload.empty()) return path_.violated(p);
    std::memcpy(r.local.data() + at, m.payload.data(), m.payload.size());
  }
  r.moved += get && code == status::done ? m.payload.size() : bytes;
  if (r.moved > r.issued) return path_.violated(p);
  const bool all = r.failure != status::done || r.issued == r.local.size();
  if (r.moved != r.issued || !all) {
    if (r.at != stage::reply) return;  // it is started again when there is room
    take_in_hand(r);
    return path_.resume(r);
  }
  take_in_hand(r);
  r.owner->ended(r, r.failure);
}

// --- the target ------------------------------------------------------------------------

void rma_target::on_message(peer& from, const message& m) {
  switch (m.kind) {
    case message_kind::rma_put:
      return on_put(from, m);
    case message_kind::rma_get:
      return path_.control(from, m);  // answered by say()
    default:
      return on_atomic(from, m);
  }
}

void rma_target::on_put(peer& from, const message& m) {
  const auto range =
      where_.regions->look_up({m.slot, m.generation}, m.offset, m.payload.size(), rights::write);
  if (range.code() == status::done &&
      !sync::put_if_word(range.at(), m.payload.data(), m.payload.size()))
    std::memcpy(range.at(), m.payload.data(), m.payload.size());
  message reply;
  reply.kind = message_kind::rma_done;
  reply.word = m.word;
  reply.flag = static_cast<std::uint8_t>(range.code());
  path_.control(from, reply);
}

status rma_target::say(peer& to, const message& m) {
  if (m.kind != message_kind::rma_get) return path_.post(to, m);
  message reply;
  reply.kind = message_kind::rma_data;
  reply.word = m.word;
  reply.position = m.offset;
  const std::uint64_t bytes = std::min<std::uint64_t>(m.bytes, to.max_payload);
  const auto range = where_.regions->look_up({m.slot, m.generation}, m.offset, bytes, rights::read);
  reply.flag = static_cast<std::uint8_t>(range.code());
  std::span<const std::byte> data;
  if (range.code() == status::done) data = {range.at(), bytes};
  return path_.post(to, reply, data);
}

void rma_target::on_atomic(peer& from, const message& m) {
  const bool known =
      m.flag <= static_cast<std::uint8_t>(last_atomic_op) && (m.width == 4 || m.width == 8);
  if (!known) return path_.violated(from);
  const auto op = static_cast<atomic_op>(m.flag);
  const auto range =
      where_.regions->look_up({m.slot, m.generation}, m.offset, m.width, rights::atomic);
  status code = range.code();
  if (code == status::done && reinterpret_cast<std::uintptr_t>(range.at()) % m.width != 0)
    code = status::misaligned;
  message reply;
  reply.kind = message_kind::rma_value;
  reply.word = m.word;
  reply.flag = static_cast<std::uint8_t>(code);
  if (code == status::done && m.width == 8) {
    reply.value = detail::apply_atomic(op, *reinterpret_cast<std::uint64_t*>(range.at()), m.operand,
                                       m.compare);
  } else if (code == status::done) {
    reply.value = detail::apply_atomic(op, *reinterpret_cast<std::uint32_t*>(range.at()),
                                       static_cast<std::uint32_t>(m.operand),
                                       static_cast<std::uint32_t>(m.compare));
  }
  path_.control(from, reply);
}

}  // namespace heddle::protocols
