// SPDX-License-Identifier: BSD-3-Clause
// pace.h - the threads of a rank in one run, and from when they started and ended to seconds per
// operation; and how many operations each run makes, so that rounds last as long as asked.
#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include "harness/spec.h"

namespace heddle::bench {

using clock = std::chrono::steady_clock;

/// Runs `work(thread)` on every thread; thread 0 is the caller. A failure ends the rank, because
/// the other threads and the partner would wait for ever; the launcher then ends the job.
template <class F>
void on_threads(int threads, F&& work) {
  const auto guarded = [&work](int t) {
    try {
      work(t);
    } catch (const std::exception& why) {
      fmt::print(stderr, "heddle bench: {}\n", why.what());
      std::fflush(stderr);
      std::_Exit(1);
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(guarded, t);
  guarded(0);
}

/// One run's beginning and end at one thread.
struct lap_times {
  clock::time_point start, end;
};

[[nodiscard]] inline double seconds_between(clock::time_point from, clock::time_point to) noexcept {
  return std::chrono::duration<double>(to - from).count();
}

/// What reading the clock takes, in seconds: measured undisturbed, which takes some microseconds.
[[nodiscard]] inline double clock_cost() {
  constexpr int attempts = 10, readings = 100;
  double least = 1;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const clock::time_point begin = clock::now();
    clock::time_point end = begin;
    for (int i = 0; i < readings; ++i) end = clock::now();
    least = std::min(least, seconds_between(begin, end) / readings);
  }
  return least;
}

/// From the first start to the last end, in seconds. `laps` must not be empty.
[[nodiscard]] inline double elapsed(const std::vector<lap_times>& laps) {
  const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
  const auto by_end = [](const auto& a, const auto& b) { return a.end < b.end; };
  return seconds_between(std::min_element(laps.begin(), laps.end(), by_start)->start,
                         std::max_element(laps.begin(), laps.end(), by_end)->end);
}

/// Of what is measured in a ping-pong, the part that counts.
[[nodiscard]] inline double share_of_trip(const spec& s) {
  return s.what == kind::latency && !is_round_trip(s.op) ? 0.5 : 1;
}

/// What a run of `count` operations on each thread came to: a latency is the mean over the threads,
/// rate and bandwidth count all threads' operations in the time they took together.
[[nodiscard]] inline double seconds_per_op(const spec& s, const std::vector<lap_times>& laps,
                                           std::uint64_t count) {
  const auto n = static_cast<double>(count);
  if (s.what != kind::latency) return elapsed(laps) / (n * static_cast<double>(laps.size()));
  double sum = 0;
  for (const lap_times& lap : laps) sum += seconds_between(lap.start, lap.end);
  return share_of_trip(s) * sum / (n * static_cast<double>(laps.size()));
}

/// Drives the runs of the rounds of one spec: first ever longer runs to learn the speed, then in
/// every round one timed run and, for latencies, one in which every operation is stamped. A timed
/// run that was far too short, because something had held up the run it was planned by, is
/// repeated.
class pacer {
 public:
  /// A run makes no fewer and no more operations than these; if there is no choice, nothing is
  /// learned.
  explicit pacer(const spec& s, std::uint64_t fewest = 16, std::uint64_t most = 1'000'000'000)
      : what_(s.what),
        time_(s.time),
        fewest_(fewest),
        most_(most),
        learned_(fewest == most),
        count_(std::clamp(first_count, fewest, most)) {}

  void begin_round() noexcept {
    repeats_ = 0;
    phase_ = learned_ ? phase::timed : phase::learning;
  }
  /// Operations of the next run, per thread; 0: the round is over.
  [[nodiscard]] std::uint64_t count() const noexcept {
    switch (phase_) {
      case phase::stamped:
        return std::min(count_, most_stamped);
      case phase::over:
        return 0;
      default:
        return count_;
    }
  }
  /// Whether the next run is the stamped one.
  [[nodiscard]] bool stamped() const noexcept { return phase_ == phase::stamped; }
  /// The run took `elapsed` in all and `per_op` for each operation, in seconds.
  void end_run(double elapsed, double per_op) noexcept {
    if (phase_ == phase::stamped) {
      phase_ = phase::over;
      return;
    }
    const double seconds = std::max(elapsed, 1e-9);
    const double fitting = static_cast<double>(count_) * time_.count() / seconds;
    const bool may_be_longer = count_ < most_;
    if (phase_ == phase::learning && seconds < long_enough_to_learn && may_be_longer) {
      count_ = std::min(count_ * 4, most_);
      return;
    }
    if (phase_ == phase::learning) {
      learned_ = true;
      phase_ = phase::timed;
    } else if (may_be_longer && seconds < far_too_short * time_.count() &&
               repeats_ < most_repeats) {
      ++repeats_;
    } else {
      result_ = per_op;
      phase_ = what_ == kind::latency ? phase::stamped : phase::over;
    }
    count_ = static_cast<std::uint64_t>(
        std::clamp(fitting, static_cast<double>(fewest_), static_cast<double>(most_)));
  }
  /// Seconds per operation of the last timed run.
  [[nodiscard]] double result() const noexcept { return result_; }

 private:
  enum class phase { learning, timed, stamped, over };
  static constexpr std::uint64_t first_count = 16;
  static constexpr double long_enough_to_learn = 5e-3;  // seconds; below, set-up and clock show
  static constexpr double far_too_short = 0.25;         // of the time asked for
  static constexpr int most_repeats = 3;
  static constexpr std::uint64_t most_stamped = 20'000;
  kind what_;
  std::chrono::duration<double> time_;
  std::uint64_t fewest_, most_;
  phase phase_ = phase::learning;
  bool learned_;
  int repeats_ = 0;  ///< of the timed run, in this round
  std::uint64_t count_;
  double result_ = 0;
};

}  // namespace heddle::bench
