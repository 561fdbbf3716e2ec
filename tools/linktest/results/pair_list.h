// SPDX-License-Identifier: BSD-3-Clause
// pair_list.h - what files have in place of matrices where they list pairs, and pictures where
// there are more ranks than most_ranks_of_matrices.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "linktest/results/results.h"

namespace heddle::linktest {

/// Back from the two columns of a file, which are exact in doubles. Throws error where they are no
/// numbers of ranks, or one is longer.
[[nodiscard]] std::vector<std::pair<int, int>> pairs_from(const std::vector<double>& initiators,
                                                          const std::vector<double>& peers);

/// Blocks of `each` x `each` pairs, row by row, with what the worst of them shows.
struct blocks {
  int side;
  std::vector<double> values;        ///< NaN: nothing was measured in it
  std::vector<std::uint8_t> states;  ///< the worst pair_state in it
};
/// `each` >= 1; of 1 the matrix itself. The worst is the largest time, or the least bandwidth.
[[nodiscard]] blocks blocks_of(const results& all, std::size_t size_index, metric m, int each);

}  // namespace heddle::linktest
