// SPDX-License-Identifier: BSD-3-Clause
// clock_cost.h - what a look at the clock costs, and how finely it tells.
#pragma once

namespace heddle::linktest {

struct clock_facts {
  double look_s = 0;        ///< what a look takes: the median distance of two in a row
  double resolution_s = 0;  ///< the smallest step that it shows
};
/// Looks at the clock by which everything is timed for about a tenth of a millisecond.
[[nodiscard]] clock_facts look_at_clock();

}  // namespace heddle::linktest
