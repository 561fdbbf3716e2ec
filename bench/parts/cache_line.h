// SPDX-License-Identifier: BSD-3-Clause
// cache_line.h - how long a cache line needs from one core to another, which tells the machine's
// speed beside every measurement.
#pragma once
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

#include "parts/pinning.h"
#include "parts/timing.h"

namespace heddle::bare {

/// Seconds for one cache line to go from one core to the other: half a ping-pong on it, measured
/// for about `time` by threads of its own. Throws std::system_error.
[[nodiscard]] inline double cache_line_one_way(core_pair cores, std::chrono::nanoseconds time) {
  constexpr std::uint64_t stop = std::numeric_limits<std::uint64_t>::max();
  alignas(HEDDLE_CACHE_LINE) std::atomic<std::uint64_t> line{0};
  // Gives the core away now and then, so that two sides on one core still end. False: it is over.
  const auto await = [&line](std::uint64_t wanted) {
    for (unsigned spins = 0;; ++spins) {
      const std::uint64_t seen = line.load(std::memory_order_acquire);  // A1 pairs with R1
      if (seen == wanted || seen == stop) return seen == wanted;
      if (spins % 16384 == 16383) sched_yield();
    }
  };
  const auto write = [&line](std::uint64_t value) {
    line.store(value, std::memory_order_release);  // R1 pairs with A1
  };
  const std::jthread echo = start_pinned(cores.second, [&] {
    for (std::uint64_t turn = 1; await(turn); turn += 2) write(turn + 1);
  });
  const double round_trip = on_core(cores.first, [&] {
    std::uint64_t turn = 0;
    const double seconds = median_seconds_per_step(time, 100, [&] {
      write(turn + 1);
      turn += 2;
      await(turn);
    });
    write(stop);
    return seconds;
  });
  return round_trip / 2;
}

}  // namespace heddle::bare
