// SPDX-License-Identifier: BSD-3-Clause
// atomic_loop.h - an atomic that a network does not have, made of its compare_swap.
//
// Where a network does atomics by itself, the owner's CPU must not touch the word in between, so
// that a message to the owner is no way. The request goes out as a compare_swap, of the value that
// was found last, until nobody came between.
#pragma once
#include <heddle/detail/direct.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "protocols/peer.h"
#include "protocols/request.h"

namespace heddle::protocols {

/// Whether the peer's network has to do it, and does not.
[[nodiscard]] inline bool needs_loop(const peer& p, const command& c) noexcept {
  return c.kind == command_kind::atomic && c.atomic > atomic_op::compare_swap &&
         (p.atomics.by != nullptr || p.network_atomics) && !p.native_atomics.has(c.atomic, c.width);
}

[[nodiscard]] inline bool is_looped(const request& r) noexcept {
  return r.looped != atomic_op::compare_swap;
}

/// The request's next compare_swap: of what it holds for the old value.
inline void try_next(request& r) noexcept {
  r.compare = r.found;
  if (r.width == 8) {
    r.operand = detail::combined<std::uint64_t>(r.looped, r.found, r.update);
  } else {
    r.operand = detail::combined<std::uint32_t>(r.looped, static_cast<std::uint32_t>(r.found),
                                                static_cast<std::uint32_t>(r.update));
  }
}

/// After describe(): makes it a compare_swap, of 0 at first.
inline void begin_loop(request& r, const command& c) noexcept {
  r.looped = c.atomic;
  r.update = c.operand;
  r.found = 0;
  r.delivered = c.memory;
  r.atomic = atomic_op::compare_swap;
  r.local = {reinterpret_cast<std::byte*>(&r.found), c.width};
  try_next(r);
}

/// A compare_swap of it is done. True: it found what it compared with, and the old value is where
/// it belongs. False: another one is to be done.
[[nodiscard]] inline bool settled(request& r) noexcept {
  if (r.found != r.compare) {
    try_next(r);
    return false;
  }
  if (!r.delivered.empty()) std::memcpy(r.delivered.data(), &r.found, r.delivered.size());
  return true;
}

}  // namespace heddle::protocols
