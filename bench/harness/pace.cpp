// SPDX-License-Identifier: BSD-3-Clause
// pace.cpp - the runs of a round as a small state machine, and the arithmetic that makes figures of
// Heddle and of its rivals mean the same.
#include "harness/pace.h"

#include <algorithm>

namespace heddle::bench {
namespace {

constexpr double long_enough_to_learn = 5e-3;  // seconds; below, set-up and clock show
constexpr double far_too_short = 0.25;         // of the time asked for
constexpr int most_repeats = 3;
constexpr std::uint64_t most_stamped = 20'000;

}  // namespace

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) noexcept {
  return std::chrono::duration<double>(to - from).count();
}

double clock_cost() {
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

double elapsed(const std::vector<lap_times>& laps) {
  const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
  const auto by_end = [](const auto& a, const auto& b) { return a.end < b.end; };
  return seconds_between(std::min_element(laps.begin(), laps.end(), by_start)->start,
                         std::max_element(laps.begin(), laps.end(), by_end)->end);
}

double share_of_trip(const spec& s) {
  return s.what == kind::latency && !is_round_trip(s.op) ? 0.5 : 1;
}

double seconds_per_op(const spec& s, const std::vector<lap_times>& laps, std::uint64_t count) {
  const auto n = static_cast<double>(count);
  if (s.what != kind::latency) return elapsed(laps) / (n * static_cast<double>(laps.size()));
  double sum = 0;
  for (const lap_times& lap : laps) sum += seconds_between(lap.start, lap.end);
  return share_of_trip(s) * sum / (n * static_cast<double>(laps.size()));
}

void pacer::begin_round() noexcept {
  repeats_ = 0;
  phase_ = learned_ ? phase::timed : phase::learning;
}

std::uint64_t pacer::count() const noexcept {
  switch (phase_) {
    case phase::stamped:
      return std::min(count_, most_stamped);
    case phase::over:
      return 0;
    default:
      return count_;
  }
}

void pacer::end_run(double elapsed, double per_op) noexcept {
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
  } else if (may_be_longer && seconds < far_too_short * time_.count() && repeats_ < most_repeats) {
    ++repeats_;
  } else {
    result_ = per_op;
    phase_ = what_ == kind::latency ? phase::stamped : phase::over;
  }
  count_ = static_cast<std::uint64_t>(
      std::clamp(fitting, static_cast<double>(fewest_), static_cast<double>(most_)));
}

}  // namespace heddle::bench
