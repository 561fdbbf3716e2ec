// SPDX-License-Identifier: BSD-3-Clause
// event.h - what a trace is made of: things that took some time or happened at once, on a thread.
#pragma once
#include <heddle/status.h>
#include <heddle/trace.h>

#include <cstdint>

#include "sync/event_ring.h"

namespace heddle::trace {

enum class event_kind : std::uint8_t {
  operation,   ///< posted and ended, perhaps on different threads
  at_once,     ///< an operation that ended inside its call
  turn,        ///< what the wires had brought was handled
  help,        ///< commands were executed that other threads had left in the lane's queue
  sleep,       ///< a thread slept
  wake,        ///< a sleeping executor was woken
  credit_in,   ///< a peer gave back credit
  credit_out,  ///< credit was given back to a peer
  no_room,     ///< something has to wait for room on the way to a peer
};

/// On whose behalf a thread runs.
enum class role : std::uint8_t { owner, executor, helper };

struct event {
  event_kind kind = event_kind::operation;
  operation_kind operation = operation_kind::put;
  status code = status::done;
  role by = role::owner;  ///< which sort of thread ended it, or did it
  bool timed = true;      ///< false: the clock was not read for its begin, which is an earlier one
  std::int32_t self = -1, peer = -1, lane = -1;
  std::uint32_t began_on = 0, ended_on = 0;  ///< threads, as gettid() numbers them
  std::uint64_t begin = 0, end = 0;          ///< ticks; equal: it took no time
  std::uint64_t amount = 0;                  ///< bytes, or how many
  heddle::tag tag = 0;

  [[nodiscard]] sync::event_ring::record packed() const noexcept {
    const auto wide = [](auto low, auto high) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(low)) |
             static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32;
    };
    const std::uint32_t kinds = static_cast<std::uint32_t>(kind) |
                                static_cast<std::uint32_t>(operation) << 8 |
                                static_cast<std::uint32_t>(code) << 16 |
                                static_cast<std::uint32_t>(by) << 24 | (timed ? 0 : untimed_bit);
    return {begin, end, amount, tag, wide(kinds, self), wide(peer, lane), wide(began_on, ended_on)};
  }
  [[nodiscard]] static event unpacked(const sync::event_ring::record& r) noexcept {
    event e;
    e.begin = r[0];
    e.end = r[1];
    e.amount = r[2];
    e.tag = r[3];
    e.kind = static_cast<event_kind>(r[4] & 0xff);
    e.operation = static_cast<operation_kind>(r[4] >> 8 & 0xff);
    e.code = static_cast<status>(r[4] >> 16 & 0xff);
    e.by = static_cast<role>(r[4] >> 24 & 0x7f);
    e.timed = (r[4] & untimed_bit) == 0;
    e.self = static_cast<std::int32_t>(r[4] >> 32);
    e.peer = static_cast<std::int32_t>(r[5] & 0xffffffff);
    e.lane = static_cast<std::int32_t>(r[5] >> 32);
    e.began_on = static_cast<std::uint32_t>(r[6] & 0xffffffff);
    e.ended_on = static_cast<std::uint32_t>(r[6] >> 32);
    return e;
  }

 private:
  static constexpr std::uint32_t untimed_bit = 1u << 31;
};

}  // namespace heddle::trace
