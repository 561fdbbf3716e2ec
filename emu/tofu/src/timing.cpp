// SPDX-License-Identifier: BSD-3-Clause
// timing.cpp - see timing.h.
#include "timing.h"

#include <time.h>

#include <algorithm>

namespace tofu {

namespace {

// Where each figure comes from is in README.md.
constexpr std::uint64_t cq_interval = 45;
constexpr std::uint64_t hop = 80;
constexpr std::uint64_t answer = 490;
constexpr std::uint64_t get_request = 600, get_response = 650;
constexpr std::uint64_t armw_request = 545, armw_response = 545;
constexpr std::uint64_t smallest_frame = 104;

/// Tenths of a byte per nanosecond.
constexpr std::uint64_t wire_rate = 66, node_rate = 381;

constexpr std::uint64_t at_rate(std::uint64_t bytes, std::uint64_t rate) noexcept {
  return bytes * 10 / rate;
}
/// Of the payload alone; 6.36 bytes per nanosecond.
constexpr std::uint64_t payload_time(std::uint64_t bytes) noexcept {
  return bytes * 100 / 636;
}

/// Bytes on the wire: packets with headers, in units of 32.
std::uint64_t frame_of(std::uint64_t bytes, std::uint64_t mtu) noexcept {
  constexpr std::uint64_t header = 64, unit = 32, preamble = 8;
  const auto packet = [](std::uint64_t payload) {
    const std::uint64_t body = (payload + header + unit - 1) / unit * unit;
    return std::max(smallest_frame, preamble + body);
  };
  const std::uint64_t whole = bytes / mtu, rest = bytes % mtu;
  return whole * packet(mtu) + (rest != 0 ? packet(rest) : 0);
}

/// Occupies `what` for `ns` from `earliest` or when it is free. Returns the beginning.
std::uint64_t reserve(occupancy& what, std::uint64_t earliest, std::uint64_t ns) noexcept {
  std::uint64_t until = what.load(std::memory_order_relaxed);  // relaxed, all: only a number
  for (;;) {
    const std::uint64_t start = std::max(until, earliest);
    if (what.compare_exchange_weak(until, start + ns, std::memory_order_relaxed)) return start;
  }
}

thread_local std::uint64_t now = 0;

/// The port through which a node is left along a dimension: x+ x- y+ y- z+ z- a b+ b- c.
unsigned port_of(unsigned dimension, bool up) noexcept {
  constexpr unsigned first[6] = {0, 2, 4, 6, 7, 9};
  const bool two = dimension != 3 && dimension != 5;
  return first[dimension] + (two && !up ? 1 : 0);
}

}  // namespace

std::uint64_t real_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

std::uint64_t virtual_now() noexcept {
  return now;
}
void virtual_advance(std::uint64_t ns) noexcept {
  now += ns;
}
void virtual_reach(std::uint64_t moment) noexcept {
  now = std::max(now, moment);
}

virtual_network::virtual_network(const machine& m, const settings& set, unsigned tni) noexcept
    : machine_(m), tni_(tni), latency_(set[knob::latency_ns]) {}

/// Along every dimension in turn, the shorter way round. Returns the number of hops.
unsigned virtual_network::follow(coordinates at, const coordinates& to, unsigned path,
                                 std::uint64_t frame, std::uint64_t& start) noexcept {
  unsigned hops = 0;
  const auto go = [&](unsigned dimension, unsigned wanted) {
    const auto length = static_cast<unsigned>(machine_.lengths()[dimension]);
    const unsigned end = wanted % length;  // a path need not exist in this machine
    const unsigned ahead = (end + length - at[dimension]) % length;
    const bool up = ahead <= length - ahead;
    for (; at[dimension] != end; ++hops) {
      const auto node = machine_.node_at(at);
      occupancy& port = machine_.at(*node).ports[port_of(dimension, up)];
      start = reserve(port, start, at_rate(frame, wire_rate));
      at[dimension] = static_cast<std::uint8_t>((at[dimension] + (up ? 1 : length - 1)) % length);
    }
  };
  const bool chosen = path != 0;
  go(3, chosen ? path & 1 : to[3]);
  go(4, chosen ? path >> 1 & 3 : to[4]);
  go(5, chosen ? path >> 3 & 1 : to[5]);
  for (unsigned dimension = 0; dimension < 6; ++dimension) go(dimension, to[dimension]);
  return hops;
}

virtual_network::way virtual_network::travel(const operation& op, std::uint64_t frame,
                                             unsigned to) noexcept {
  node_entry& here = machine_.at(machine_.node());
  std::uint64_t start = std::max(op.posted_at, cq_until_);
  cq_until_ = start + cq_interval;
  start = reserve(here.tnis[tni_].busy_until, start, at_rate(frame, wire_rate));
  start = reserve(here.busy_until, start, at_rate(frame, node_rate));
  const unsigned hops = follow(machine_.coordinates_of(machine_.node()),
                               machine_.coordinates_of(to), op.path, frame, start);
  return {start, hops};
}

moments virtual_network::carry(const operation& op, std::uint64_t bytes, unsigned to,
                               unsigned to_tni) noexcept {
  const bool get = op.what == command::get;
  const bool put = op.what == command::put || op.what == command::piggyback;
  const std::uint64_t data = frame_of(bytes, op.mtu != 0 ? op.mtu : max_mtu);
  const std::uint64_t out = put ? data : smallest_frame, back = get ? data : smallest_frame;
  const auto [start, hops] = travel(op, out, to);
  const std::uint64_t detour = hops > 1 ? (hops - 1) * hop : 0;
  const std::uint64_t sent = start + at_rate(out, wire_rate);
  if (put) {
    const std::uint64_t arrived = start + latency_ + detour + payload_time(bytes);
    return {sent, arrived, arrived + answer + detour};
  }
  const std::uint64_t arrived = start + detour + (get ? get_request : armw_request);
  const std::uint64_t response =
      reserve(machine_.at(to).tnis[to_tni].busy_until, arrived, at_rate(back, wire_rate));
  const std::uint64_t rest = get ? get_response + payload_time(bytes) : armw_response;
  return {sent, arrived, response + detour + rest};
}

}  // namespace tofu
