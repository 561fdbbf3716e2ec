// timing.h - repeats a step in blocks until a time has passed, and tells the time per step.
#pragma once
#include <chrono>
#include <cstddef>

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

}  // namespace heddle::bare
