// SPDX-License-Identifier: BSD-3-Clause
// rebuild.h - from the matrices of a file back to results.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// Where the matrices come from: ranks x ranks entries, row by row, for each size.
struct matrix_source {
  std::function<std::vector<double>(std::size_t size_index, metric m)> values;
  std::function<std::vector<pair_state>(std::size_t size_index)> states;
  std::optional<std::uint64_t> sample{};  ///< so many ordered pairs were to be measured; none: all
};

/// The results of the run that `facts` describes. Throws what `source` throws, and error where a
/// matrix has the wrong extent or there are no two ranks.
[[nodiscard]] results rebuild(const run_facts& facts, const matrix_source& source);

}  // namespace heddle::linktest
