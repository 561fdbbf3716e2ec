// endpoint_access.cpp - puts, gets and atomics: in the descriptor, through staging memory, or from
// and to the program's own memory, registered for as long as it takes and kept for the next time.
#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/utofu/endpoint.h"

namespace heddle::transport::utofu {
namespace {

/// Pieces of one large transfer under way at a time.
constexpr std::uint64_t pieces_under_way = 4;

rights needed(op_kind kind) noexcept {
  if (kind == op_kind::get) return rights::read;
  return kind == op_kind::atomic ? rights::atomic : rights::write;
}

std::size_t bytes_of(const op& what) noexcept {
  if (what.kind == op_kind::atomic) return what.width;
  return what.memory.size();
}

}  // namespace

utofu_endpoint::planned utofu_endpoint::plan_access(link& l, op& what, plan& p, bool alone) {
  target* t = nullptr;
  if (const planned found = resolve(l, what, p, t); found != planned::post) return found;
  const std::size_t bytes = bytes_of(what);
  if (!allows(t->facts.allowed, needed(what.kind))) [[unlikely]]
    return refuse(p, status::denied);
  if (what.offset > t->facts.bytes || bytes > t->facts.bytes - what.offset) [[unlikely]]
    return refuse(p, status::out_of_bounds);
  what.over = bytes == 0;
  if (what.over) return planned::taken;
  if (t->address == 0) [[unlikely]]
    return refuse(p, status::unsupported);
  if (window_full()) return planned::busy;
  p.d.flags = 0;
  p.d.there = t->address + what.offset;
  p.d.bytes = bytes;
  switch (what.kind) {
    case op_kind::atomic:
      return plan_atomic(l, *t, what, p);
    case op_kind::put:
      return plan_put(*t, what, p, alone);
    default:
      return plan_get(*t, what, p, alone);
  }
}

flight& utofu_endpoint::track_access(plan& p, stream& to, op& what) {
  flight& f = track(p, to);
  f.kind = what.kind;
  f.of = &what;
  f.bytes = static_cast<std::uint32_t>(p.d.bytes);
  return f;
}

utofu_endpoint::planned utofu_endpoint::plan_put(target& t, op& what, plan& p, bool alone) {
  if (what.memory.size() <= max_piggyback) {
    p.d.what = descriptor::form::piggyback;
    p.d.data = what.memory.data();
    enter_plain(p, *t.via, what);
    return planned::post;
  }
  p.d.what = descriptor::form::put;
  return what.memory.size() <= stage_bytes_ ? plan_staged(t, what, p)
                                            : plan_direct(t, what, p, alone);
}

utofu_endpoint::planned utofu_endpoint::plan_get(target& t, op& what, plan& p, bool alone) {
  p.d.what = descriptor::form::get;
  return what.memory.size() <= stage_bytes_ ? plan_staged(t, what, p)
                                            : plan_direct(t, what, p, alone);
}

utofu_endpoint::planned utofu_endpoint::plan_staged(target& t, op& what, plan& p) {
  const auto piece = staged_.take(p.d.bytes);
  if (!piece) return planned::busy;
  p.d.here = piece->address;
  flight& f = track_access(p, *t.via, what);
  f.staged = true;
  f.ticket = piece->ticket;
  f.landed = piece->at;
  if (what.kind == op_kind::get) f.into = what.memory.data();
  if (what.kind == op_kind::put) std::memcpy(piece->at, what.memory.data(), what.memory.size());
  return planned::post;
}

/// Out of and into the program's memory, without a copy where it can be registered.
utofu_endpoint::planned utofu_endpoint::plan_direct(target& t, op& what, plan& p, bool alone) {
  if (!alone) return planned::alone;  // were it wrong, the error must name this op
  auto held = cache_.acquire({what.memory.data(), p.d.bytes}, last_lease_);
  if (p.d.bytes > (held ? max_piece : staged_piece))
    return begin_large(t, what, std::move(held), p);
  if (!held) return plan_staged(t, what, p);
  p.d.here = held.handle() + held.offset();
  track_access(p, *t.via, what).held = std::move(held);
  return planned::post;
}

utofu_endpoint::planned utofu_endpoint::plan_atomic(link& l, target& t, op& what, plan& p) {
  const auto [via, there] = atomic_way(l, t, what.offset);
  if (there % what.width != 0)  // an address is aligned as the memory is
    return refuse(p, status::misaligned);
  p.d.what = descriptor::form::atomic;
  p.d.atomic = what.atomic;
  p.d.width = what.width;
  p.d.operand = what.operand;
  p.d.compare = what.compare;
  p.d.there = there;
  if (what.memory.empty())
    enter_plain(p, *via, what);
  else
    track_access(p, *via, what).into = what.memory.data();
  return planned::post;
}

// --- in several pieces -------------------------------------------------------------------

utofu_endpoint::planned utofu_endpoint::begin_large(target& t, op& what,
                                                    memory::registration_cache::lease held,
                                                    const plan& p) {
  large_transfer& made = large_.emplace_back();
  made.self = std::prev(large_.end());
  made.with = p.with;
  made.to = &t;
  made.of = &what;
  made.kind = what.kind;
  made.local = what.memory.data();
  made.offset = what.offset;
  made.bytes = p.d.bytes;
  made.held = std::move(held);
  chores_ = true;
  move_large();
  return planned::taken;
}

void utofu_endpoint::move_large() noexcept {
  for (auto it = large_.begin(); it != large_.end();) {
    large_transfer& t = *it++;
    if (t.with->state == link::state_t::lost) continue;
    while (t.failure == status::done && t.issued < t.bytes && t.under_way < pieces_under_way &&
           post_piece(t)) {
    }
  }
}

bool utofu_endpoint::post_piece(large_transfer& t) noexcept {
  plan p;
  p.with = t.with;
  op piece;
  piece.kind = t.kind;
  p.d.what = t.kind == op_kind::put ? descriptor::form::put : descriptor::form::get;
  p.d.there = t.to->address + t.offset + t.issued;
  p.d.bytes = std::min<std::uint64_t>(t.held ? max_piece : staged_piece, t.bytes - t.issued);
  std::byte* const local = t.local + t.issued;
  piece.memory = {local, p.d.bytes};
  if (window_full()) return false;
  try {
    if (!t.held && plan_staged(*t.to, piece, p) != planned::post) return false;
    if (t.held) {
      p.d.here = t.held.handle() + t.held.offset() + t.issued;
      track_access(p, *t.to->via, piece);
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  p.tracked->what = flight::purpose::piece;
  p.tracked->whole = &t;
  // Not by hand_over(), which may end the transfer.
  if (issue(vcq_.handle(), p.d) != UTOFU_SUCCESS) {
    undo(p);
    return false;
  }
  t.issued += p.d.bytes;
  ++t.under_way;
  return true;
}

void utofu_endpoint::piece_ended(const flight& f, status code) noexcept {
  large_transfer& t = *f.whole;
  --t.under_way;
  if (code != status::done && t.failure == status::done) t.failure = code;
  const bool over =
      t.issued == t.bytes || t.failure != status::done || t.with->state == link::state_t::lost;
  if (t.under_way == 0 && over) end_large(t);
}

/// Nothing of it is under way.
void utofu_endpoint::end_large(large_transfer& t) noexcept {
  status code = t.failure;
  if (code == status::done && t.issued != t.bytes) code = status::peer_lost;
  conclude(*t.with, *t.of, code);
  large_.erase(t.self);
}

}  // namespace heddle::transport::utofu
