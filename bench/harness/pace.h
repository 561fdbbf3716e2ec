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

  void begin_round() noexcept;
  /// Operations of the next run, per thread; 0: the round is over.
  [[nodiscard]] std::uint64_t count() const noexcept;
  /// Whether the next run is the stamped one.
  [[nodiscard]] bool stamped() const noexcept { return phase_ == phase::stamped; }
  /// The run took `elapsed` in all and `per_op` for each operation, in seconds.
  void end_run(double elapsed, double per_op) noexcept;
  /// Seconds per operation of the last timed run.
  [[nodiscard]] double result() const noexcept { return result_; }

 private:
  enum class phase { learning, timed, stamped, over };
  static constexpr std::uint64_t first_count = 16;
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
