// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/rma.h"

#include <cstring>
#include <utility>

#include "protocols/atomic_loop.h"

namespace heddle::protocols {
namespace {

rights needed(command_kind k) noexcept {
  if (k == command_kind::get) return rights::read;
  return k == command_kind::atomic ? rights::atomic : rights::write;
}

std::size_t bytes_of(command_kind k, const command& c) noexcept {
  return k == command_kind::atomic ? c.width : c.memory.size();
}

status check_signal(const command& c) noexcept {
  const auto [word, offset] = c.signal;
  const bool known = c.atomic == atomic_op::add || c.atomic == atomic_op::swap;
  if (word == nullptr || word->owner != c.target->owner || !known) return status::invalid;
  const status s = check_range(*word, offset, sizeof(std::uint64_t), rights::atomic);
  if (s != status::done) return s;
  return offset % sizeof(std::uint64_t) == 0 ? status::done : status::misaligned;
}

/// What can be said without asking the peer.
inline status check(command_kind k, const command& c) noexcept {
  const status s = check_range(*c.target, c.offset, bytes_of(k, c), needed(k));
  if (s != status::done) return s;
  if (k == command_kind::put_signal) return check_signal(c);
  const bool odd = k == command_kind::atomic && c.offset % c.width != 0;
  return odd ? status::misaligned : status::done;
}

/// Mapped here. One that is not live any more was withdrawn, or its owner is dead: the wire knows
/// which.
bool is_here(const memory::remote_memory& t, rights wanted) noexcept {
  return allows(t.mapped, wanted) && t.live->is(t.generation);
}

/// All of the op, as if the wire took it in one.
inline void describe(command_kind k, const command& c, transport::op& o) noexcept {
  describe_move(o, native_kind(k), c.memory, c.target->ref, c.offset);
  if (k == command_kind::put || k == command_kind::get) return;
  o.atomic = c.atomic;
  o.width = c.width;
  o.operand = c.operand;
  o.compare = c.compare;
}

/// The op's message is the notification, as notify() would send it.
void tell(const command& c, transport::op& o) noexcept {
  o.tells = true;
  o.header = std::as_bytes(std::span(&o.operand, 1));
  o.head = head_of_call(c.handler, o.header.size());
}

template <class T>
void apply(const command& c, std::byte* at) noexcept {
  const T old = detail::apply_atomic(c.atomic, *reinterpret_cast<T*>(at), static_cast<T>(c.operand),
                                     static_cast<T>(c.compare));
  if (!c.memory.empty()) std::memcpy(c.memory.data(), &old, sizeof old);
}

/// The data is there: what is left of the request is the atomic on the word.
void turn_to_signal(request& r) noexcept {
  const auto [word, offset] = std::exchange(r.signal, {});
  r.kind = transport::op_kind::atomic;
  r.width = sizeof(std::uint64_t);
  r.region = word->ref;
  r.base = offset;
  r.local = {};
  r.by = carrier::undecided;
  r.issued = r.moved = 0;
}

/// The wire, or whoever does it, has done what it was given. True: the request has more to do.
bool goes_on(request& r) noexcept {
  if (is_looped(r)) return !settled(r);
  if (r.signal.target == nullptr) return false;
  turn_to_signal(r);
  return true;
}

}  // namespace

// --- those that the wire takes at once ---------------------------------------------------

/// Nothing waits before it, nothing follows its end, and the wire can do it.
template <command_kind Kind>
inline bool rma::goes_straight(const peer& p, const command& c) const noexcept {
  return !p.blocked && !path_.batch().keeps_back(p) && !p.refuses_late &&
         c.memory.size() <= p.max_straight &&
         transfers::is_native(p, native_kind(Kind), c.atomic, c.width);
}

// --- all -------------------------------------------------------------------------------

status rma::begin(const command& c) {
  if (c.target == nullptr) return status::invalid;
  switch (c.kind) {
    case command_kind::put:
      return access_as<command_kind::put>(c);
    case command_kind::get:
      return access_as<command_kind::get>(c);
    case command_kind::atomic:
      return access_as<command_kind::atomic>(c);
    case command_kind::put_notify:
      return access_as<command_kind::put_notify>(c);
    default:
      return access_as<command_kind::put_signal>(c);
  }
}

/// Once for each kind, so that none asks for what only another one needs.
template <command_kind Kind>
status rma::access_as(const command& c) {
  if (const status s = check(Kind, c); s != status::done) return s;
  peer* const owner = peers_.reach(c.peer);
  if (owner == nullptr) return status::no_memory;
  peer& p = *owner;
  if (p.lost) return status::peer_lost;
  // A notification is kept until the peer has room, and takes no record.
  if (Kind == command_kind::put_notify && path::has_many(p) && !ops_.room().takes_all())
    return status::busy_records;
  if (Kind == command_kind::put_signal) return put_signal(p, c);
  if (bytes_of(Kind, c) == 0) {
    if (Kind == command_kind::put_notify) notify(p, c.handler, c.operand);
    return status::done;
  }
  if (is_here(*c.target, needed(Kind))) return access_here(p, c);
  if (ops_.room().full()) return status::busy_records;
  if (Kind != command_kind::put_notify && goes_straight<Kind>(p, c)) {
    request& r = ops_.pool().take();
    describe(Kind, c, r);
    const status s = post_straight(r, p, Kind, c.done);
    if (s == status::posted || s == status::done) [[likely]]
      return s;
  }
  if (Kind == command_kind::atomic && p.no_atomics) return status::unsupported;
  return submit(p, c);
}

status rma::submit(peer& p, const command& c) {
  request& r = ops_.begin(&p, c, *this);
  describe(c.kind, c, r);
  // One that goes in parts does not tell: then we do, after its end.
  if (c.kind == command_kind::put_notify && p.put_tells && c.memory.size() <= p.max_straight)
    tell(c, r);
  r.local = c.memory;
  r.base = c.offset;
  r.looped = atomic_op::compare_swap;
  r.signal = {};
  if (needs_loop(p, c)) [[unlikely]]
    begin_loop(r, c);
  ops_.count(r);
  const bool tells = r.tells;
  const status s = path_.submit(r);
  if (s == status::done && c.kind == command_kind::put_notify && !tells)
    notify(p, c.handler, c.operand);
  return s;
}

status rma::start(request& r) {
  status s = transfers_.start(r);
  while (s == status::done && goes_on(r)) s = transfers_.start(r);
  return s;
}

void rma::ended(request& r, status code) {
  if (code == status::done && goes_on(r)) return path_.resume(r);
  const bool told = r.tells && r.by == carrier::undecided;  // the wire took it in one
  if (r.what == command_kind::put_notify && code == status::done && !told)
    notify(*r.with, r.handler, r.operand);
  ops_.finish(r, code);
}

/// The region is mapped here: what lane.h does inline, and what it leaves to us.
status rma::access_here(peer& p, const command& c) {
  std::byte* const at = c.target->direct + c.offset;
  switch (c.kind) {
    case command_kind::get:
      detail::get_direct(c.memory.data(), at, c.memory.size());
      break;
    case command_kind::atomic:
      c.width == 8 ? apply<std::uint64_t>(c, at) : apply<std::uint32_t>(c, at);
      break;
    default:
      detail::put_direct(at, c.memory.data(), c.memory.size());
      if (c.kind == command_kind::put_notify) notify(p, c.handler, c.operand);
  }
  return status::done;
}

// --- signals ---------------------------------------------------------------------------

/// By plain stores what can be; the rest is one request, of the data first and then of the word.
status rma::put_signal(peer& p, const command& c) {
  const bool data_here = c.memory.empty() || is_here(*c.target, rights::write);
  const bool word_here = is_here(*c.signal.target, rights::atomic);
  if (p.no_atomics && !word_here) return status::unsupported;
  const bool at_once = data_here && word_here;
  if (!at_once && ops_.room().full()) return status::busy_records;
  if (data_here && !c.memory.empty())
    detail::put_direct(c.target->direct + c.offset, c.memory.data(), c.memory.size());
  if (!at_once) return submit_signal(p, c, data_here);
  auto& word = *reinterpret_cast<std::uint64_t*>(c.signal.target->direct + c.signal.offset);
  detail::apply_atomic(c.atomic, word, c.operand, std::uint64_t{0});
  return status::done;
}

status rma::submit_signal(peer& p, const command& c, bool data_is_there) {
  request& r = ops_.begin(&p, c, *this);
  describe(c.kind, c, r);
  r.local = c.memory;
  r.base = c.offset;
  r.looped = atomic_op::compare_swap;
  r.signal = c.signal;
  if (data_is_there) turn_to_signal(r);
  ops_.count(r);
  return path_.submit(r);
}

// --- notifications ---------------------------------------------------------------------

/// The data is visible at the peer: lets its handler know (calls::say).
void rma::notify(peer& p, handler_id handler, std::uint64_t value) {
  message m;
  m.kind = message_kind::call_eager;
  m.handler = handler;
  m.operand = value;
  path_.control(p, m);
}

}  // namespace heddle::protocols
