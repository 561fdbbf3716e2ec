// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/pieces.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::protocols {

status pieces::start(request& r) {
  const status s = move(r);
  if (s == status::unsupported) {
    r.by = carrier::messages;
    return r.owner->start(r);
  }
  if (s != status::done || r.moved == r.local.size()) return s;
  await_turn(r);
  return status::posted;
}

void pieces::await_turn(request& r) noexcept {
  turns_.add(r);
  r.at = stage::turn;
}

std::size_t pieces::move_next() {
  path_.resume(turns_.take_first());
  return 1;
}

void pieces::ended(request& r, status code) {
  if (code == status::done) r.moved = r.issued;
  if (code != status::done || r.moved == r.local.size()) return r.owner->ended(r, code);
  await_turn(r);
}

/// posted: the wire goes on with the piece by itself after all, and tells when it has ended.
status pieces::move(request& r) {
  const std::uint64_t bytes = std::min(r.local.size() - r.moved, piece_bytes);
  if (r.mappable && copy_mapped(r, bytes)) return status::done;
  if (!r.with->takes(r.kind)) return status::unsupported;
  r.memory = r.local.subspan(r.moved, bytes);
  r.offset = r.base + r.moved;
  const status s = path_.post(r);
  if (s == status::done || s == status::posted) r.issued = r.moved + bytes;
  if (s == status::done) r.moved = r.issued;
  return s;
}

/// Through a mapping, where the sender's memory can be mapped here.
bool pieces::copy_mapped(request& r, std::uint64_t bytes) {
  const detail::remote_target* target = map(r);
  const std::uint64_t offset = r.base + r.moved;
  if (target == nullptr || !detail::reachable(*target, offset, bytes, rights::read)) return false;
  std::memcpy(r.local.data() + r.moved, target->direct + offset, bytes);
  r.issued = r.moved += bytes;
  return true;
}

/// Lets go of those that their owner has withdrawn: they keep its memory.
mapped_region& pieces::place_for_mapping(peer& p) noexcept {
  for (mapped_region& each : p.mapped)
    if (!each.lives()) each = {};
  const auto free = std::ranges::find(p.mapped, nullptr, &mapped_region::mapping);
  return free != p.mapped.end() ? *free : p.mapped[p.next_mapped++ % p.mapped.size()];
}

/// The region of a peer as mapped here, or null when it cannot be. Keeps the last few mapped.
const detail::remote_target* pieces::map(const request& r) {
  peer& p = *r.with;
  if (r.region.generation == 0) return nullptr;  // none
  for (const mapped_region& known : p.mapped)
    if (known.ref == r.region && known.lives()) return &known.target;
  mapped_region made{.ref = r.region, .target = {}, .mapping = nullptr};
  try {
    made.mapping = where_.devices[p.device]->import(p.number, r.region, made.target);
  } catch (const std::exception&) {
    return nullptr;  // the other ways find out what is wrong with the region
  }
  if (made.target.direct == nullptr) return nullptr;
  made.target.allowed = made.target.mapped = rights::read;
  mapped_region& place = place_for_mapping(p);
  place = std::move(made);
  return &place.target;
}

}  // namespace heddle::protocols
