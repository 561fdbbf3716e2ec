// SPDX-License-Identifier: BSD-3-Clause
// timing.h - repeats a step in blocks until a time has passed, and tells the time per step; and the
// sequence of random slots that both the bare limits and Heddle are given.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace heddle::bare {

/// Runs `step` for about `time`, reading the clock once per `block` steps; the seconds of each
/// block. One block before that is not counted.
template <class F>
std::vector<double> seconds_of_blocks(std::chrono::nanoseconds time, std::size_t block, F&& step) {
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
  return blocks;
}

/// The same; seconds per step.
template <class F>
double seconds_per_step(std::chrono::nanoseconds time, std::size_t block, F&& step) {
  const std::vector<double> blocks = seconds_of_blocks(time, block, step);
  return std::accumulate(blocks.begin(), blocks.end(), 0.0) /
         static_cast<double>(block * blocks.size());
}

/// As the median of the blocks: one in which a thread lost its core does not count.
template <class F>
double median_seconds_per_step(std::chrono::nanoseconds time, std::size_t block, F&& step) {
  std::vector<double> blocks = seconds_of_blocks(time, block, step);
  const auto middle = blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() / 2);
  std::nth_element(blocks.begin(), middle, blocks.end());
  return *middle / static_cast<double>(block);
}

/// Xorshift: about a nanosecond per number, the same numbers for the same seed.
class random_slots {
 public:
  /// `slots` must be a power of two.
  random_slots(std::uint64_t slots, std::uint64_t seed) noexcept
      : mask_(slots - 1), state_(seed * 0x9e3779b97f4a7c15u | 1u) {}
  [[nodiscard]] std::uint64_t next() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ & mask_;
  }

 private:
  std::uint64_t mask_;
  std::uint64_t state_;
};

}  // namespace heddle::bare
