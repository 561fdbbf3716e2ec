// SPDX-License-Identifier: BSD-3-Clause
// pacing.h - how long a pair is warmed up, and how often it is measured.
#pragma once
#include <cstdint>
#include <span>

namespace heddle::linktest {

/// Decides when a pair's first turns, which set up connections and move threads about, are over:
/// when a turn is no longer a tenth faster than the fastest before it. Bounded.
class warming {
 public:
  explicit warming(int most_turns) noexcept : most_turns_(most_turns) {}
  /// After a turn that took `message_s` per message and `elapsed_s` in all. False: go on.
  [[nodiscard]] bool is_steady(double message_s, double elapsed_s) noexcept;

 private:
  static constexpr double most_s = 0.05;
  const int most_turns_;
  double fastest_s_ = 0, spent_s_ = 0;
  int turns_ = 0;
};

/// How often a pair is measured on a visit.
struct pace {
  double interval;     ///< wanted half width of the median's confidence interval, of the median
  std::uint64_t most;  ///< measurements of the pair, those of earlier visits among them
  double budget_s;     ///< of one visit; the measurement that passes it is the last
};
/// Whether the times that a pair has by now are enough. At least one, of which the last was just
/// measured, `spent_s` after the visit's first began.
[[nodiscard]] bool is_enough(const pace& how, std::span<const float> times, double spent_s);

}  // namespace heddle::linktest
