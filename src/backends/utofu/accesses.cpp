// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/accesses.h"

#include <utility>

#include "base/copy.h"

namespace heddle::transport::utofu {

/// The bytes first, and the message behind them on the queue that it takes in any case: Tofu keeps
/// strong order there, and a notice of the message comes when it is written. Only of arrays that
/// are registered on every queue: a put to one of them fails only when its owner has given it up,
/// and then the owner drops the message.
status accesses::put_and_tell(peer_state& p, peer_region& r, op& o) {
  const way in_order = regions_.message_way(p, r);
  const bool together = in_order.via != nullptr && o.memory.size() <= max_piece;
  const status s =
      together ? put_slowly(in_order, o, UTOFU_ONESIDED_FLAG_STRONG_ORDER) : put_slowly(r.to, o, 0);
  if (s != status::posted) return s;
  o.tells =
      together && !large_.has(o) && !queue_.window().full() &&
      notices_.send(p, {o.head, o.header, {}, static_cast<std::uint16_t>(r.tag)}) == status::done;
  return s;
}

/// Of any length: what put() does inline is the shortest.
status accesses::put_slowly(const way& to, op& o, std::uint32_t flags) {
  const std::size_t bytes = o.memory.size();
  if (bytes <= max_piggyback) return piggyback(to, o, flags);
  return bytes <= copied_ ? put_copied(to, o, flags) : direct(to, o, flags);
}

status accesses::put_copied(const way& to, op& o, std::uint32_t flags) {
  std::byte* const slot = slots_.take();
  if (slot == nullptr) return status::busy_queue;
  std::memcpy(slot, o.memory.data(), o.memory.size());
  const auto make = [&] {
    work_request c = through(slot, work_request::form::put, to, o);
    c.flags = flags;
    return c;
  };
  note& n = o.make_notes<note>();
  n.to = to.via;
  n.slot = slot;
  const status s = queue_.submit(make, *to.via, queue_name::puts, pending(o, ending::freed));
  if (s != status::done) slots_.give_back(slot);
  return as_posted(s);
}

/// Out of and into the program's memory, without a copy where it can be registered.
status accesses::direct(const way& to, op& o, std::uint32_t flags) {
  auto held = cache_.acquire({o.memory.data(), o.memory.size()}, last_);
  if (!held || o.memory.size() > max_piece) return large_.begin(to, o, std::move(held));
  const bool is_get = o.kind == op_kind::get;
  const auto make = [&] {
    work_request c;
    c.what = is_get ? work_request::form::get : work_request::form::put;
    c.here = held.handle() + held.offset();
    c.there = to.address + o.offset;
    c.bytes = o.memory.size();
    c.flags = flags;
    return c;
  };
  const queue_name name = queue_of(o.kind);
  note& n = o.make_notes<note>();
  const status s = queue_.submit(make, *to.via, name, pending(o, ending::unpinned));
  if (s == status::done) n.held.keep(std::move(held));
  return as_posted(s);
}

void accesses::take_back(op& o) noexcept {
  if (std::exchange(o.over, false)) return;
  const note& n = o.notes<note>();
  const ending how = queue_.take_back(*n.to, queue_of(o.kind)).how();
  if (how == ending::copied || how == ending::freed) slots_.give_back(n.slot);
}

/// Of what used a slot or a registration.
void accesses::finish_with_memory(const pending& what, bool done) noexcept {
  op& o = what.operation();
  note& n = o.notes<note>();
  if (what.how() == ending::unpinned) return n.held.release();
  slots_.give_back(n.slot);  // nobody takes it before it is read
  if (what.how() == ending::copied && done) copy_few(o.memory.data(), {n.slot, o.memory.size()});
}

}  // namespace heddle::transport::utofu
