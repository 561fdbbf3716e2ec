// port_rma.cpp - put, get and atomics that are not plain loads and stores of this process.
#include <cstring>
#include <utility>

#include "protocols/port.h"

namespace heddle::protocols {
namespace {

rights needed(command_kind k) noexcept {
  if (k == command_kind::get) return rights::read;
  return k == command_kind::atomic ? rights::atomic : rights::write;
}

std::size_t bytes_of(const command& c) noexcept {
  if (c.kind == command_kind::atomic) return c.width;
  return c.memory.size();
}

/// What can be said without asking the peer.
status check(const command& c) noexcept {
  const memory::remote_memory& t = *c.target;
  const std::size_t bytes = bytes_of(c);
  if (c.offset > t.bytes || bytes > t.bytes - c.offset) return status::out_of_bounds;
  if (!allows(t.allowed, needed(c.kind))) return status::denied;
  if (c.kind == command_kind::atomic && c.offset % c.width != 0) return status::misaligned;
  return status::done;
}

/// The wire of the link's messages does it itself.
bool is_native(const link& l, const command& c) noexcept {
  if (c.kind == command_kind::atomic) return l.native_atomics.has(c.atomic, c.width);
  return l.takes(native_kind(c.kind)) && c.memory.size() <= l.max_op;
}

void describe(const command& c, transport::op& o) noexcept {
  o.kind = native_kind(c.kind);
  o.over = false;
  o.atomic = c.atomic;
  o.width = c.width;
  o.peer = c.peer;
  o.memory = c.memory;
  o.region = c.target->ref;
  o.offset = c.offset;
  o.operand = c.operand;
  o.compare = c.compare;
}

template <class T>
void apply(const command& c, std::byte* at) noexcept {
  const T old = detail::apply_atomic(c.atomic, *reinterpret_cast<T*>(at), static_cast<T>(c.operand),
                                     static_cast<T>(c.compare));
  if (!c.memory.empty()) std::memcpy(c.memory.data(), &old, sizeof old);
}

}  // namespace

// --- those that the wire takes at once ---------------------------------------------------

/// Nothing waits before it, nothing follows its end, and the wire can do it.
inline bool port::goes_straight(const link& l, const command& c) const noexcept {
  return !l.blocked && !batching_ && !l.refuses_late && c.kind != command_kind::put_notify &&
         is_native(l, c) && !(l.copies_in_post && needs_pieces(c.memory.size()));
}

/// busy_queue, unsupported: nothing happened, and it takes a record to go on.
inline status port::post_straight(link& l, const command& c) {
  native_access& a = accesses_.take();
  describe(c, a);
  if (const status s = post_one(*l.wire, a); s != status::posted) [[unlikely]] {
    accesses_.give_back(a);
    return s;
  }
  a.with = &l;
  a.done = c.done;
  a.bytes = c.memory.size();
  a.since_ns = 0;
  bytes_.set(bytes_.get() + a.bytes);
  ++l.counted;
  ++counted_;
  in_flight_.add();
  return status::posted;
}

void port::end_access(native_access& a, status code) {
  link& l = *std::exchange(a.with, nullptr);
  l.heard = true;
  out_->add(a.done,
            {.code = code, .peer = l.peer, .tag = 0, .bytes = code == status::done ? a.bytes : 0});
  bytes_.set(bytes_.get() - a.bytes);
  accesses_.give_back(a);
  in_flight_.subtract();
  count_down(l);
}

// --- all -------------------------------------------------------------------------------

status port::access(const command& c) {
  if (c.target == nullptr) return status::invalid;
  if (const status s = check(c); s != status::done) return s;
  link& l = link_to(c.peer);
  if (l.lost) return status::peer_lost;
  // One that is not live any more was withdrawn, or its owner is dead: the wire knows which.
  if (allows(c.target->mapped, needed(c.kind)) && c.target->live->is(c.target->generation))
    return access_here(c);
  if (bytes_of(c) == 0) {
    if (c.kind == command_kind::put_notify) notify(l, c);
    return status::done;
  }
  if (full()) return status::busy_records;
  if (goes_straight(l, c)) {
    const status s = post_straight(l, c);
    if (s != status::busy_queue && s != status::unsupported) [[likely]]
      return s;
  }
  if (c.kind == command_kind::atomic && l.no_atomics) return status::unsupported;
  record& r = begin(&l, c);
  r.counted = true;
  ++l.counted;
  ++counted_;
  const status s = start_or_queue(l, r);
  if (s == status::done && c.kind == command_kind::put_notify) notify(l, c);
  return s;
}

/// The region is mapped here: what lane.h does inline, and what it leaves to us.
status port::access_here(const command& c) {
  std::byte* const at = c.target->direct + c.offset;
  switch (c.kind) {
    case command_kind::get:
      detail::get_direct(c.memory.data(), at, c.memory.size());
      break;
    case command_kind::atomic:
      c.width == 8 ? apply<std::uint64_t>(c, at) : apply<std::uint32_t>(c, at);
      break;
    default:
      if (!c.memory.empty()) detail::put_direct(at, c.memory.data(), c.memory.size());
      if (c.kind == command_kind::put_notify) notify(link_to(c.peer), c);
  }
  return status::done;
}

// --- those that may have to wait ---------------------------------------------------------

status port::start_access(link& l, record& r) {
  const command& c = r.what;
  const transport::op_kind kind = native_kind(c.kind);
  const bool elsewhere = kind == transport::op_kind::atomic && l.atomics != nullptr;
  if (!elsewhere && !is_native(l, c)) return pump(l, r);
  if (l.copies_in_post && kind != transport::op_kind::atomic && needs_pieces(c.memory.size())) {
    const status s = start_pieces(l, r);
    return s == status::unsupported ? pump(l, r) : s;
  }
  describe_transfer(r);
  if (batching_ && !elsewhere) {
    batch_access(l, r);
    return status::posted;
  }
  const status s = post_one(elsewhere ? *l.atomics : *l.wire, r);
  if (s == status::unsupported) return pump(l, r);  // not this region
  if (s != status::posted) return s;
  r.native = true;
  r.at = stage::wire;
  return s;
}

void port::describe_transfer(record& r) noexcept {
  describe(r.what, r);
}

/// The data is visible at the peer: lets its handler know, with the value as its header.
void port::notify(link& l, const command& c) {
  message m;
  m.kind = message_kind::call_eager;
  m.handler = c.handler;
  m.operand = c.operand;
  m.header = std::as_bytes(std::span(&m.operand, 1));
  send_control(l, m);
}

}  // namespace heddle::protocols
