// SPDX-License-Identifier: BSD-3-Clause
// impact.h - by which factor other traffic slows each pair down.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// Of one figure: how many times as long it takes with all pairs of a step at once as alone.
struct impact_of_figure {
  /// ranks x ranks, row = initiator; NaN: not measured both ways. Where files list pairs, of those
  /// that were, and empty with more ranks than most_ranks_of_matrices.
  std::vector<double> factors;
  std::vector<int> initiators, peers;  ///< of the factors, where files list pairs
  spread over_pairs;                   ///< of the factors
  double overall;                      ///< the sum over those pairs with traffic / the sum alone
  int worst_from = -1, worst_to = -1;  ///< the pair with the largest; -1: there is none
};
struct impact {
  std::uint64_t bytes;
  impact_of_figure mean, p99;
};

/// Of each size. Both have been measured by the same ranks with the same sizes.
[[nodiscard]] std::vector<impact> impact_of(const results& alone, const results& loaded);
/// A table.
[[nodiscard]] std::string in_words(const std::vector<impact>& all,
                                   const std::vector<std::string>& hosts);

}  // namespace heddle::linktest
