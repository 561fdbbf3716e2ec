// port_emulate.cpp - put, get and atomics by messages, where the backend has no native way: the
// initiator cuts them into fragments and keeps a window of them in flight; the target answers each
// one by itself and keeps no state.
#include <algorithm>
#include <cstring>

#include "protocols/port.h"

namespace heddle::protocols {
namespace {

/// Fragments of one operation in flight.
constexpr std::uint64_t window = 8;

status status_of(std::uint8_t flag) noexcept {
  return static_cast<status>(std::min(flag, static_cast<std::uint8_t>(status::closed)));
}

message access_message(message_kind kind, const record& r) {
  message m;
  m.kind = kind;
  m.word = r.id();
  const bool fetch = r.source != any_source;
  const memory::region_ref ref = fetch ? r.remote.ref : r.what.target->ref;
  m.slot = ref.slot;
  m.generation = ref.generation;
  m.offset = fetch ? r.remote.offset : r.what.offset;
  return m;
}

}  // namespace

// --- the initiator ---------------------------------------------------------------------

std::uint64_t port::fragmented_bytes(const record& r) const noexcept {
  if (r.source != any_source) return fetch_into(r).size();
  return r.what.memory.size();
}

status port::post_atomic(link& l, record& r) {
  message m = access_message(message_kind::rma_atomic, r);
  m.flag = static_cast<std::uint8_t>(r.what.atomic);
  m.width = r.what.width;
  m.operand = r.what.operand;
  m.compare = r.what.compare;
  return post_message(l, m, {});
}

status port::post_fragment(link& l, record& r) {
  const bool get = r.source != any_source || r.what.kind == command_kind::get;
  const std::uint64_t total = fragmented_bytes(r);
  const std::uint64_t bytes = std::min<std::uint64_t>(l.max_payload, total - r.issued);
  message m = access_message(get ? message_kind::rma_get : message_kind::rma_put, r);
  m.offset += r.issued;
  m.bytes = bytes;
  const auto data = get ? std::span<const std::byte>{} : r.what.memory.subspan(r.issued, bytes);
  const status s = post_message(l, m, data);
  if (s == status::done) r.issued += bytes;
  return s;
}

/// Sends what the window allows: posted, or busy_queue when the wire had no room for the first
/// fragment missing, or how it ended: a fragment cannot be sent, and none is under way.
status port::pump(link& l, record& r) {
  const bool atomic = r.what.kind == command_kind::atomic;
  if (r.issued == 0) counters_.emulated.add();
  if (atomic) {
    if (const status s = post_atomic(l, r); s != status::done) return s;
  }
  const std::uint64_t total = atomic ? 0 : fragmented_bytes(r);
  while (r.issued < total && r.failure == status::done &&
         r.issued - r.moved < window * l.max_payload) {
    const status s = post_fragment(l, r);
    if (s == status::busy_queue) return s;
    if (s != status::done) r.failure = s;
  }
  if (r.failure != status::done && r.issued == r.moved) return r.failure;
  r.at = stage::reply;
  return status::posted;
}

/// Goes on by messages with an operation that was accepted.
void port::emulate(link& l, record& r) {
  const status s = pump(l, r);
  if (s == status::busy_queue) return enqueue(l, r);
  if (s != status::posted) end(r, s);
}

void port::on_reply(link& l, const message& m) {
  record* r = records_.find(m.word);
  if (r == nullptr || r->with != &l || r->native) return;
  if (r->at != stage::reply && r->at != stage::backlog) return;
  const status code = status_of(m.flag);
  if (m.kind == message_kind::rma_value) {
    if (r->what.kind == command_kind::atomic && r->at == stage::reply) on_value(*r, m, code);
  } else if (r->issued != r->moved) {
    on_fragment(l, *r, m, code);
  }
}

void port::on_value(record& r, const message& m, status code) {
  if (code == status::done && !r.what.memory.empty()) {
    std::memcpy(r.what.memory.data(), &m.value, r.what.memory.size());
  }
  finish(r, code);
}

void port::on_fragment(link& l, record& r, const message& m, status code) {
  const bool get = r.source != any_source || r.what.kind == command_kind::get;
  const std::uint64_t start = r.source != any_source ? r.remote.offset : r.what.offset;
  const std::uint64_t at = m.position - start;  // get: where the payload belongs
  const std::uint64_t bytes = std::min<std::uint64_t>(l.max_payload, r.issued - r.moved);
  if (code != status::done) r.failure = code;
  if (get && code == status::done) {
    const auto into = r.source != any_source ? fetch_into(r) : r.what.memory;
    if (at > into.size() || m.payload.size() > into.size() - at || m.payload.empty()) {
      return violated(l);
    }
    std::memcpy(into.data() + at, m.payload.data(), m.payload.size());
  }
  r.moved += get && code == status::done ? m.payload.size() : bytes;
  if (r.moved > r.issued) return violated(l);
  if (r.moved == r.issued && (r.failure != status::done || r.issued == fragmented_bytes(r))) {
    return end(r, r.failure);
  }
  if (r.at == stage::reply) emulate(l, r);
}

// --- the target ------------------------------------------------------------------------

void port::on_rma_put(link& l, const message& m) {
  const auto range =
      where_.regions->look_up({m.slot, m.generation}, m.offset, m.payload.size(), rights::write);
  if (range.code() == status::done) {
    std::memcpy(range.at(), m.payload.data(), m.payload.size());
  }
  message reply;
  reply.kind = message_kind::rma_done;
  reply.word = m.word;
  reply.flag = static_cast<std::uint8_t>(range.code());
  send_control(l, reply);
}

/// busy_queue: no room for the answer; the question is kept and asked again.
status port::answer_get(link& l, const message& m) {
  message reply;
  reply.kind = message_kind::rma_data;
  reply.word = m.word;
  reply.position = m.offset;
  const std::uint64_t bytes = std::min<std::uint64_t>(m.bytes, l.max_payload);
  const auto range = where_.regions->look_up({m.slot, m.generation}, m.offset, bytes, rights::read);
  reply.flag = static_cast<std::uint8_t>(range.code());
  std::span<const std::byte> data;
  if (range.code() == status::done) data = {range.at(), bytes};
  return post_message(l, reply, data);
}

void port::on_rma_atomic(link& l, const message& m) {
  message reply;
  reply.kind = message_kind::rma_value;
  reply.word = m.word;
  const bool known = m.flag <= static_cast<std::uint8_t>(atomic_op::compare_swap) &&
                     (m.width == 4 || m.width == 8);
  if (!known) return violated(l);
  const auto op = static_cast<atomic_op>(m.flag);
  const auto range =
      where_.regions->look_up({m.slot, m.generation}, m.offset, m.width, rights::atomic);
  status code = range.code();
  if (code == status::done && reinterpret_cast<std::uintptr_t>(range.at()) % m.width != 0) {
    code = status::misaligned;
  }
  reply.flag = static_cast<std::uint8_t>(code);
  if (code == status::done && m.width == 8) {
    reply.value = detail::apply_atomic(op, *reinterpret_cast<std::uint64_t*>(range.at()), m.operand,
                                       m.compare);
  } else if (code == status::done) {
    reply.value = detail::apply_atomic(op, *reinterpret_cast<std::uint32_t*>(range.at()),
                                       static_cast<std::uint32_t>(m.operand),
                                       static_cast<std::uint32_t>(m.compare));
  }
  send_control(l, reply);
}

}  // namespace heddle::protocols
