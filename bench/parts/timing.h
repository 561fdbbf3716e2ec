// SPDX-License-Identifier: BSD-3-Clause
// timing.h - repeats a step in blocks until a time has passed, and tells the time per step.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace heddle::bare {

/// Runs `step` for about `time`, reading the clock once per `block` steps; seconds per step.
/// One block before that is not counted.
template <class F>
double seconds_per_step(std::chrono::nanoseconds time, std::size_t block, F&& step) {
  using clock = std::chrono::steady_clock;
  for (std::size_t i = 0; i < block; ++i) step();
  const clock::time_point start = clock::now();
  clock::time_point now = start;
  std::size_t steps = 0;
  do {
    for (std::size_t i = 0; i < block; ++i) step();
    steps += block;
    now = clock::now();
  } while (now - start < time);
  return std::chrono::duration<double>(now - start).count() / static_cast<double>(steps);
}

/// The same, as the median of the blocks: one in which a thread lost its core does not count.
template <class F>
double median_seconds_per_step(std::chrono::nanoseconds time, std::size_t block, F&& step) {
  using clock = std::chrono::steady_clock;
  for (std::size_t i = 0; i < block; ++i) step();
  std::vector<double> blocks;
  const clock::time_point start = clock::now();
  for (clock::time_point last = start; last - start < time;) {
    for (std::size_t i = 0; i < block; ++i) step();
    const clock::time_point now = clock::now();
    blocks.push_back(std::chrono::duration<double>(now - last).count());
    last = now;
  }
  const auto middle = blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() / 2);
  std::nth_element(blocks.begin(), middle, blocks.end());
  return *middle / static_cast<double>(block);
}

}  // namespace heddle::bare
