// SPDX-License-Identifier: BSD-3-Clause
// part_counts.h - how much of a buffer is each rank's, for the collectives with counts.
#pragma once
#include <cstddef>
#include <span>

namespace heddle::detail {

struct part_counts {
  std::span<const std::size_t> items;  ///< by rank
  std::size_t item_bytes = 1;
};

}  // namespace heddle::detail
