// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/accesses.h"

#include <cstring>
#include <utility>

#include "backends/verbs/exposed.h"
#include "base/copy.h"

namespace heddle::transport::verbs {

/// Whether these bytes are inside the region, and may be touched in this way.
status accesses::check(const peer_region& r, const op& o, std::size_t bytes,
                       rights needed) noexcept {
  if (!allows(r.allowed, needed)) return status::denied;
  const bool inside = o.offset <= r.bytes && bytes <= r.bytes - o.offset;
  if (!inside) return status::out_of_bounds;
  return r.address != 0 || bytes == 0 ? status::done : status::unsupported;
}

status accesses::start(peer_lane& p, op& o) {
  const peer_region* r = p.process->regions.find_recent(o.region);
  if (r == nullptr) [[unlikely]] {
    peer_region* known = nullptr;
    if (const status s = regions_.look_up(p, o, known); s != status::done) return s;
    r = known;
  }
  if (o.kind == op_kind::put) return move<op_kind::put>(p, *r, o);
  if (o.kind == op_kind::get) return move<op_kind::get>(p, *r, o);
  return act(p, *r, o);
}

/// Once for puts and once for gets, so that neither asks for what only the other one needs.
template <op_kind Kind>
inline status accesses::move(peer_lane& p, const peer_region& r, op& o) {
  constexpr bool out = Kind == op_kind::put;
  const std::size_t bytes = o.memory.size();
  const status s = check(r, o, bytes, out ? rights::write : rights::read);
  if (s != status::done) return s;
  o.over = bytes == 0;
  if (o.over) return status::done;
  memory::registration_cache::lease held;
  std::byte* here = o.memory.data();
  std::uint32_t key_here = 0;
  bool in_slot = false;
  if (out && bytes <= max_inline_) {
    // The card takes the bytes as it is told of them, and they stay where they are until then.
  } else if (bytes <= slots_.slot_bytes()) {
    if (here = slots_.take(); here == nullptr) return status::busy_queue;
    if (out) copy_few(here, o.memory);
    key_here = slots_.key();
    in_slot = true;
  } else if (held = cache_.acquire(o.memory, last_); !held) {
    return held.why() == memory::registration_cache::failure::refused ? status::unsupported
                                                                      : status::busy_queue;
  } else {
    key_here = registration_of(held).lkey;
  }
  p.out.flights.push({.of = &o,
                      .here = here,
                      .bytes = static_cast<std::uint32_t>(bytes),
                      .key_here = key_here,
                      .there = r.address + o.offset,
                      .key = r.key,
                      .held = std::move(held),
                      .how = out       ? ending::told
                             : in_slot ? ending::copied
                                       : ending::landed,
                      .in_slot = in_slot});
  return status::posted;
}

status accesses::act(peer_lane& p, const peer_region& r, op& o) noexcept {
  if (const status s = check(r, o, o.width, rights::atomic); s != status::done) return s;
  const std::uint64_t there = r.address + o.offset;
  if (there % o.width != 0) return status::misaligned;
  std::byte* const slot = slots_.take();
  if (slot == nullptr) return status::busy_queue;
  o.over = false;
  const ending how = is_native(o) ? ending::fetched : ending::guessed;
  if (how == ending::guessed) o.make_notes<guess>();
  p.out.flights.push({.of = &o,
                      .here = slot,
                      .bytes = sizeof(std::uint64_t),
                      .key_here = slots_.key(),
                      .there = there,
                      .key = r.key,
                      .how = how,
                      .in_slot = true});
  return status::posted;
}

bool accesses::finish(stream& s, flight& f) noexcept {
  if (f.how == ending::copied) copy_few(f.of->memory.data(), {f.here, f.bytes});
  if (f.how < ending::fetched) return true;
  std::uint64_t found = 0;
  std::memcpy(&found, f.here, sizeof found);
  if (f.how == ending::guessed && try_again(s, f, found)) return false;  // f is the new one's
  op& o = *f.of;
  const std::uint64_t old = word_place(f.there, o.width).get(found);
  if (!o.memory.empty()) std::memcpy(o.memory.data(), &old, o.width == 8 ? 8 : 4);
  return true;
}

/// Somebody came in between, and what is there now would be changed.
bool accesses::try_again(stream& s, flight& f, std::uint64_t found) noexcept {
  auto& tried = f.of->notes<guess>();
  const word_place word(f.there, f.of->width);
  const std::uint64_t old = word.get(found);
  if (tried.expected == found) return false;
  tried.expected = found;
  if (f.of->atomic == atomic_op::compare_swap && old != (f.of->compare & word.mask)) return false;
  flight again = std::move(f);  // its cell may be the one that is taken next
  s.flights.push(std::move(again));
  return true;
}

}  // namespace heddle::transport::verbs
