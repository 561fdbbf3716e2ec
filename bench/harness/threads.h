// SPDX-License-Identifier: BSD-3-Clause
// threads.h - the threads of a rank in one measurement, and the time they take.
#pragma once
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include "harness/pace.h"

namespace heddle::bench {

using clock = std::chrono::steady_clock;

/// Runs `work(thread)` on every thread; thread 0 is the caller. A failure ends the rank, because
/// the other threads and the partner would wait for ever; the launcher then ends the job. The
/// reason is printed behind `who`.
template <class F>
void on_threads(int threads, F&& work, const char* who = "heddle bench: ") {
  const auto guarded = [&work, who](int t) {
    try {
      work(t);
    } catch (const std::exception& why) {
      fmt::print(stderr, "{}{}\n", who, why.what());
      std::fflush(stderr);
      std::_Exit(1);
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(guarded, t);
  guarded(0);
}

}  // namespace heddle::bench
