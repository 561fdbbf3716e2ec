// SPDX-License-Identifier: BSD-3-Clause
// laps.h - from when the threads of a run started and ended to seconds per operation.
#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

#include "harness/spec.h"

namespace heddle::bench {

/// One run's beginning and end at one thread.
struct lap_times {
  std::chrono::steady_clock::time_point start, end;
};

[[nodiscard]] double seconds_between(std::chrono::steady_clock::time_point from,
                                     std::chrono::steady_clock::time_point to) noexcept;

/// What reading the clock takes, in seconds: measured undisturbed, which takes some microseconds.
[[nodiscard]] double clock_cost();

/// From the first start to the last end, in seconds. `laps` must not be empty.
[[nodiscard]] double elapsed(const std::vector<lap_times>& laps);

/// Of what is measured in a ping-pong, the part that counts.
[[nodiscard]] double share_of_trip(const spec& s);

/// What a run of `count` operations on each thread came to: a latency is the mean over the threads,
/// rate and bandwidth count all threads' operations in the time they took together.
[[nodiscard]] double seconds_per_op(const spec& s, const std::vector<lap_times>& laps,
                                    std::uint64_t count);

}  // namespace heddle::bench
