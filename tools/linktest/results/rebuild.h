// SPDX-License-Identifier: BSD-3-Clause
// rebuild.h - from the matrices or lists of pairs of a file back to results.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// Where the values come from, for each size: of ranks x ranks entries, row by row, or of those
/// that `pairs` names.
struct value_source {
  std::function<std::vector<double>(std::size_t size_index, metric m)> values;
  std::function<std::vector<pair_state>(std::size_t size_index)> states;
  std::optional<std::uint64_t> sample{};  ///< so many ordered pairs were to be measured; none: all
  /// Initiator and peer of each entry. Empty: they are a matrix.
  std::function<std::vector<std::pair<int, int>>(std::size_t size_index)> pairs{};
};

/// The results of the run that `facts` describes. Throws what `source` throws, and error where
/// there are not as many entries of everything, a pair is not there or there twice, or there are no
/// two ranks.
[[nodiscard]] results rebuild(const run_facts& facts, const value_source& source);

}  // namespace heddle::linktest
