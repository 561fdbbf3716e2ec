// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/pacing.h"

#include <algorithm>

#include "linktest/results/metrics.h"

namespace heddle::linktest {

bool warming::is_steady(double message_s, double elapsed_s) noexcept {
  constexpr double notably = 0.9;
  const bool faster = turns_ == 0 || message_s < notably * fastest_s_;
  fastest_s_ = turns_ == 0 ? message_s : std::min(fastest_s_, message_s);
  spent_s_ += elapsed_s;
  return ++turns_ == most_turns_ || spent_s_ >= most_s || !faster;
}

bool is_enough(const pace& how, std::span<const float> times, double spent_s) {
  if (times.size() >= how.most || spent_s >= how.budget_s) return true;
  const sketch so_far = sketch_of(times);
  return so_far.ci_high - so_far.ci_low <= 2 * how.interval * so_far.median;
}

}  // namespace heddle::linktest
