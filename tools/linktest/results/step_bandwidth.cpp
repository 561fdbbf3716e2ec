// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/step_bandwidth.h"

namespace heddle::linktest {

std::vector<spread> step_bandwidths(const results& all, const plan& steps) {
  std::vector<spread> out;
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    std::vector<double> sums;
    for (std::int64_t step = 0; step < steps.steps(); ++step) {
      for (std::int64_t phase = 0; phase < steps.phases(); ++phase) {
        double& sum = sums.emplace_back(0);
        for (int r = 0; r < all.ranks(); ++r)
          if (const turn mine = steps.turn_of(r, 0, step, phase); mine.initiator)
            sum += all.value(s, r, mine.peer, metric::bandwidth);  // NaN stays
      }
    }
    out.push_back(spread_of(sums));
  }
  return out;
}

}  // namespace heddle::linktest
