// SPDX-License-Identifier: BSD-3-Clause
// accesses.h - puts, gets and atomics: in the work request, through a slot of registered memory, or
// from and to the program's own memory, registered for as long as it takes and kept for the next
// time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "backends/utofu/buffers.h"
#include "backends/utofu/large_transfers.h"
#include "backends/utofu/messages.h"
#include "backends/utofu/peer_regions.h"
#include "backends/utofu/work_queue.h"

namespace heddle::transport::utofu {

class accesses {
 public:
  accesses(work_queue& queue, peer_regions& regions, memory::registration_cache& cache,
           slot_pool slots, large_transfers& large, messages& notices, std::size_t copied)
      : queue_(queue),
        regions_(regions),
        cache_(cache),
        slots_(std::move(slots)),
        large_(large),
        notices_(notices),
        copied_(std::min(copied, slots_.slot_bytes())) {}

  /// Posts it, or finds it over. busy_queue: there is no room, or no memory.
  [[nodiscard, gnu::always_inline]] status start(peer_state& p, op& o) noexcept;
  /// Its error, were there one, must name it: it does not go in a list.
  [[nodiscard]] bool goes_alone(const op& o) const noexcept {
    return o.tells || (o.kind != op_kind::atomic && o.memory.size() > copied_);
  }
  /// Takes back one of a list, which was not posted after all.
  void take_back(op& o) noexcept;
  /// The notice of `what` has come, with the old value of an atomic. Not for pieces.
  void finish(const pending& what, bool done, std::uint64_t value) noexcept;

 private:
  /// Of an access that is one work request.
  struct note {
    // NOLINTNEXTLINE(modernize-use-equals-default): as much is written as is needed
    note() noexcept {}
    remote_vcq* to;
    union {
      std::byte* slot;
      kept_lease held;
    };
  };
  /// Of an op that an accepted work request carries out.
  [[nodiscard]] static status as_posted(status s) noexcept {
    return s == status::done ? status::posted : s;
  }
  [[nodiscard]] static status check(const peer_region& r, const op& o, std::size_t bytes,
                                    rights needed) noexcept;
  [[nodiscard]] work_request through(const std::byte* slot, work_request::form what, const way& to,
                                     const op& o) const noexcept {
    work_request c;
    c.what = what;
    c.here = slots_.address_of(slot);
    c.there = to.address + o.offset;
    c.bytes = o.memory.size();
    return c;
  }
  [[nodiscard, gnu::always_inline]] status put(peer_state& p, peer_region& r, op& o);
  [[nodiscard, gnu::always_inline]] status get(peer_region& r, op& o);
  [[nodiscard, gnu::always_inline]] status atomic(peer_state& p, peer_region& r, op& o);
  [[nodiscard, gnu::noinline]] status put_and_tell(peer_state& p, peer_region& r, op& o);
  [[nodiscard, gnu::noinline]] status put_slowly(const way& to, op& o, std::uint32_t flags);
  // `flags`: of the work request, besides its own.
  [[nodiscard, gnu::always_inline]] status piggyback(const way& to, op& o, std::uint32_t flags);
  // Through a slot.
  [[nodiscard, gnu::always_inline]] status get_copied(const way& to, op& o);
  [[nodiscard, gnu::noinline]] status put_copied(const way& to, op& o, std::uint32_t flags);
  [[nodiscard, gnu::noinline]] status direct(const way& to, op& o, std::uint32_t flags);
  [[gnu::noinline]] void finish_with_memory(const pending& what, bool done) noexcept;

  work_queue& queue_;
  peer_regions& regions_;
  memory::registration_cache& cache_;
  memory::registration_cache::hint last_;
  slot_pool slots_;
  large_transfers& large_;
  messages& notices_;
  const std::size_t copied_;  // bytes, at most; longer ones are registered
};

// Inline: the hot paths.

/// Whether these bytes are inside the region, and may be touched in this way.
inline status accesses::check(const peer_region& r, const op& o, std::size_t bytes,
                              rights needed) noexcept {
  if (!allows(r.facts.allowed, needed)) return status::denied;
  const bool inside = o.offset <= r.facts.bytes && bytes <= r.facts.bytes - o.offset;
  if (!inside) return status::out_of_bounds;
  return r.to.address != 0 || bytes == 0 ? status::done : status::unsupported;
}

inline status accesses::start(peer_state& p, op& o) noexcept {
  try {
    peer_region* r = nullptr;
    if (const status found = regions_.find(p, o.region, r); found != status::done) [[unlikely]]
      return found;
    if (o.kind == op_kind::put) return put(p, *r, o);
    return o.kind == op_kind::get ? get(*r, o) : atomic(p, *r, o);
  } catch (const std::bad_alloc&) {
    return status::busy_queue;
  }
}

inline status accesses::put(peer_state& p, peer_region& r, op& o) {
  const std::size_t bytes = o.memory.size();
  if (const status s = check(r, o, bytes, rights::write); s != status::done) [[unlikely]]
    return s;
  o.over = bytes == 0;
  if (o.tells) [[unlikely]]
    return put_and_tell(p, r, o);
  if (bytes - 1 < max_piggyback) [[likely]]
    return piggyback(r.to, o, 0);
  return o.over ? status::done : put_slowly(r.to, o, 0);
}

inline status accesses::get(peer_region& r, op& o) {
  const std::size_t bytes = o.memory.size();
  if (const status s = check(r, o, bytes, rights::read); s != status::done) [[unlikely]]
    return s;
  o.over = bytes == 0;
  if (bytes - 1 < copied_) [[likely]]
    return get_copied(r.to, o);
  return o.over ? status::done : direct(r.to, o, 0);
}

inline status accesses::piggyback(const way& to, op& o, std::uint32_t flags) {
  const auto make = [&] {
    work_request c;
    c.what = work_request::form::piggyback;
    c.there = to.address + o.offset;
    c.bytes = o.memory.size();
    c.data = o.memory.data();
    c.flags = flags;
    return c;
  };
  o.make_notes<note>().to = to.via;
  return as_posted(queue_.submit(make, *to.via, queue_name::puts, pending(o, ending::told)));
}

inline status accesses::get_copied(const way& to, op& o) {
  std::byte* const slot = slots_.take();
  if (slot == nullptr) [[unlikely]]
    return status::busy_queue;
  const auto make = [&] { return through(slot, work_request::form::get, to, o); };
  note& n = o.make_notes<note>();
  n.to = to.via;
  n.slot = slot;
  const status s = queue_.submit(make, *to.via, queue_name::gets, pending(o, ending::copied));
  if (s != status::done) [[unlikely]]
    slots_.give_back(slot);
  return as_posted(s);
}

inline status accesses::atomic(peer_state& p, peer_region& r, op& o) {
  if (const status s = check(r, o, o.width, rights::atomic); s != status::done) [[unlikely]]
    return s;
  const way to = regions_.atomic_way(p, r, o.offset);
  if ((to.address & (o.width - 1u)) != 0) [[unlikely]]  // an address is aligned as the memory is
    return status::misaligned;
  const auto make = [&] {
    work_request c;
    c.what = work_request::form::atomic;
    c.atomic = o.atomic;
    c.width = o.width;
    c.operand = o.operand;
    c.compare = o.compare;
    c.there = to.address;
    return c;
  };
  o.make_notes<note>().to = to.via;
  o.over = false;
  const ending how = o.memory.empty() ? ending::told : ending::fetched;
  return as_posted(queue_.submit(make, *to.via, queue_name::atomics, pending(o, how)));
}

inline void accesses::finish(const pending& what, bool done, std::uint64_t value) noexcept {
  if (what.how() == ending::told) return;
  if (what.how() == ending::fetched) {
    op& o = what.operation();
    if (done) std::memcpy(o.memory.data(), &value, o.width == 8 ? 8 : 4);
    return;
  }
  finish_with_memory(what, done);
}

}  // namespace heddle::transport::utofu
