// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/accesses.h"

#include <utility>

#include "base/copy.h"

namespace heddle::transport::utofu {

status accesses::put_copied(peer_region& r, op& o) {
  std::byte* const slot = slots_.take();
  if (slot == nullptr) return status::busy_queue;
  std::memcpy(slot, o.memory.data(), o.memory.size());
  remote_vcq& to = *r.to.via;
  const auto make = [&] { return through(slot, command::form::put, r, o); };
  note& n = o.make_notes<note>();
  n.to = &to;
  n.slot = slot;
  const status s = queue_.submit(make, to, queue_name::puts, pending(o, ending::freed));
  if (s != status::done) slots_.give_back(slot);
  return as_posted(s);
}

/// Out of and into the program's memory, without a copy where it can be registered.
status accesses::direct(peer_region& r, op& o) {
  auto held = cache_.acquire({o.memory.data(), o.memory.size()}, last_);
  if (!held || o.memory.size() > max_piece) return large_.begin(r.to, o, std::move(held));
  const bool is_get = o.kind == op_kind::get;
  const auto make = [&] {
    command c;
    c.what = is_get ? command::form::get : command::form::put;
    c.here = held.handle() + held.offset();
    c.there = r.to.address + o.offset;
    c.bytes = o.memory.size();
    return c;
  };
  const queue_name name = queue_of(o.kind);
  note& n = o.make_notes<note>();
  const status s = queue_.submit(make, *r.to.via, name, pending(o, ending::unpinned));
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
