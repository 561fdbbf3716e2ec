// SPDX-License-Identifier: BSD-3-Clause
// pacer.cpp - the runs of a round as a small state machine.
#include "harness/pacer.h"

#include <algorithm>

namespace heddle::bench {
namespace {

constexpr double long_enough_to_learn = 5e-3;  // seconds; below, set-up and clock show
constexpr double far_too_short = 0.25;         // of the time asked for
constexpr int most_repeats = 3;
constexpr std::uint64_t most_stamped = 20'000;

}  // namespace

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
