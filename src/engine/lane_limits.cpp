// SPDX-License-Identifier: BSD-3-Clause
// lane_limits.cpp - heddle::lane: the forms that wait no longer than they are told.
#include <heddle/lane.h>

#include <chrono>
#include <cstdint>

#include "engine/lane_checks.h"
#include "engine/limited.h"

namespace heddle {

using std::chrono::nanoseconds;

outcome lane::recv_for(rank from, tag_match t, std::span<std::byte> into,
                       nanoseconds limit) noexcept {
  engine::may_block(*core_);
  return engine::end_within(*this, limit, from,
                            [&](flag& f) { return try_recv(from, t, into, f); });
}

outcome lane::match_for(rank from, tag_match t, matched_message& into, nanoseconds limit) noexcept {
  engine::may_block(*core_);
  return engine::end_within(*this, limit, from,
                            [&](flag& f) { return try_match(from, t, into, f); });
}

status lane::flush_for(rank peer, nanoseconds limit) noexcept {
  engine::may_block(*core_);
  return engine::end_within(*this, limit, peer, [&](flag& f) { return try_flush(peer, f); }).code;
}

status lane::flush_for(nanoseconds limit) noexcept {
  return flush_for(any_source, limit);
}

status lane::fence_for(rank peer, nanoseconds limit) noexcept {
  detail::order_all();
  return flush_for(peer, limit);
}

}  // namespace heddle
