// SPDX-License-Identifier: BSD-3-Clause
// overhead.h - what a get takes, and what of that its call takes, by threads whose target is
// passive.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/pace.h"
#include "harness/partner.h"
#include "harness/rounds.h"
#include "harness/slots.h"
#include "kernels/library.h"

namespace heddle::bench {

/// Gets one by one for so long: `sample(whole, call)` is told the seconds of each, and of its call
/// alone, but not of the first 1000, or of the first half where that is less.
template <class Path, class Place, class F>
void time_gets(Path& own, Place from, std::chrono::milliseconds time, F&& sample) {
  constexpr std::uint64_t dropped_samples = 1000;
  const clock::time_point begin = clock::now(), half = begin + time / 2;
  std::uint64_t taken = 0;
  for (clock::time_point t0 = begin; t0 - begin < time; ++taken) {
    t0 = clock::now();
    own.get(from);
    const clock::time_point t1 = clock::now();
    own.drain();
    const clock::time_point t2 = clock::now();
    if (taken >= dropped_samples || t0 >= half)
      sample(seconds_between(t0, t2), seconds_between(t0, t1));
  }
}

/// Gets per second, as many under way as the window has.
template <class Path, class Place>
double rate_of_gets(Path& own, Place from, std::chrono::milliseconds time) {
  constexpr std::uint64_t between_looks_at_the_clock = 64;
  const clock::time_point begin = clock::now();
  std::uint64_t done = 0;
  for (; clock::now() - begin < time; done += between_looks_at_the_clock)
    for (std::uint64_t i = 0; i < between_looks_at_the_clock; ++i) own.get(from);
  own.drain();
  return static_cast<double>(done) / seconds_between(begin, clock::now());
}

/// By both ranks of a pair: the one that leads gets, from the other one, which waits in its
/// library. Of times the mean over the threads, of rates the sum; as metrics_of(s) says.
template <class Path>
round_result round_of_gets(partner& other, const std::vector<std::shared_ptr<Path>>& paths,
                           const spec& s, bool leads) {
  std::vector<std::array<double, 3>> samples(paths.size());
  for (const bool one_by_one : {true, false}) {
    (void)swap(other, true);
    on_threads(s.threads, [&](int thread) {
      const auto t = static_cast<std::size_t>(thread);
      Path& own = *paths[t];
      if (!leads) return own.await_notice();
      const auto from = own.at(table_layout::for_spec(s).slot_of(thread));
      auto& mine = samples[t];
      double count = 0;
      if (one_by_one)
        time_gets(own, from, s.time, [&](double whole, double call) {
          mine[0] += (whole - mine[0]) / ++count;
          mine[1] += (call - mine[1]) / count;
        });
      else
        mine[2] = rate_of_gets(own, from, s.time);
      own.notify();
    });
  }
  std::vector<double> figures(3);
  const auto threads = static_cast<double>(samples.size());
  for (const auto& [latency, overhead, rate] : samples) {
    figures[0] += latency * 1e6 / threads;
    figures[1] += overhead * 1e6 / threads;
    figures[2] += rate * 1e-6;
  }
  return {figures};
}

}  // namespace heddle::bench
