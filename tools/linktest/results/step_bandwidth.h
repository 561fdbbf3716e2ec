// SPDX-License-Identifier: BSD-3-Clause
// step_bandwidth.h - what all links that are used at the same time carry together.
#pragma once
#include <vector>

#include "linktest/plan/plan.h"
#include "linktest/results/results.h"

namespace heddle::linktest {

/// Of each size the sum of the bandwidths of the pairs that were measured at once, over the steps
/// and their two directions: of a bisection, its bandwidth. Steps with a pair that has none are
/// left out. `steps` is not shuffled and not serial.
[[nodiscard]] std::vector<spread> step_bandwidths(const results& all, const plan& steps);

}  // namespace heddle::linktest
