// SPDX-License-Identifier: BSD-3-Clause
// overhead.h - what a get takes, and what of that its call takes, by threads whose target is
// passive.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "harness/pace.h"
#include "harness/partner.h"
#include "harness/rounds.h"
#include "harness/slots.h"
#include "kernels/library.h"

namespace heddle::bench {

/// One side of a pair: the rank that leads gets, from the other one, which waits in its library.
template <class Path>
class get_timing {
 public:
  get_timing(partner& other, std::vector<std::unique_ptr<Path>> paths, const spec& s, bool leads)
      : other_(other), paths_(std::move(paths)), spec_(s), leads_(leads) {}

  /// By both ranks.
  round_result round() {
    std::vector<sample> samples(paths_.size());
    for (const auto part : {&get_timing::one_by_one, &get_timing::in_a_window}) {
      (void)swap(other_, true);
      on_threads(spec_.threads, [&](int t) {
        Path& own = *paths_[static_cast<std::size_t>(t)];
        if (!leads_) return own.await_notice();
        (this->*part)(own, t, samples[static_cast<std::size_t>(t)]);
        own.notify();
      });
    }
    sample sum;  // of times the mean over the threads, of rates the sum
    const auto threads = static_cast<double>(samples.size());
    for (const sample& s : samples) {
      sum.latency += s.latency / threads;
      sum.overhead += s.overhead / threads;
      sum.rate += s.rate;
    }
    return {{sum.latency * 1e6, sum.overhead * 1e6, sum.rate * 1e-6}};
  }

 private:
  struct sample {
    double latency = 0, overhead = 0, rate = 0;
  };

  [[nodiscard]] auto place(Path& own, int thread) const {
    return own.at(table_layout::for_spec(spec_).slot_of(thread));
  }
  void one_by_one(Path& own, int thread, sample& result) {
    constexpr std::uint64_t dropped_samples = 1000;  // but no more than the first half
    const auto from = place(own, thread);
    const clock::time_point begin = clock::now(), half = begin + spec_.time / 2;
    double latency = 0, overhead = 0;
    std::uint64_t taken = 0, counted = 0;
    for (clock::time_point t0 = begin; t0 - begin < spec_.time; ++taken) {
      t0 = clock::now();
      own.get(from);
      const clock::time_point t1 = clock::now();
      own.drain();
      const clock::time_point t2 = clock::now();
      if (taken < dropped_samples && t0 < half) continue;
      overhead += seconds_between(t0, t1);
      latency += seconds_between(t0, t2);
      ++counted;
    }
    const auto n = static_cast<double>(std::max<std::uint64_t>(counted, 1));
    result.latency = latency / n;
    result.overhead = overhead / n;
  }
  void in_a_window(Path& own, int thread, sample& result) {
    constexpr std::uint64_t between_looks_at_the_clock = 64;
    const auto from = place(own, thread);
    const clock::time_point begin = clock::now();
    std::uint64_t done = 0;
    for (; clock::now() - begin < spec_.time; done += between_looks_at_the_clock)
      for (std::uint64_t i = 0; i < between_looks_at_the_clock; ++i) own.get(from);
    own.drain();
    result.rate = static_cast<double>(done) / seconds_between(begin, clock::now());
  }

  partner& other_;
  const std::vector<std::unique_ptr<Path>> paths_;
  const spec spec_;
  const bool leads_;
};

}  // namespace heddle::bench
