// SPDX-License-Identifier: BSD-3-Clause
// near_core_by_number.cpp - near_core.h without hwloc: Linux counts the cores of a package in a row
// on most machines.
#include <algorithm>
#include <cstdlib>

#include "engine/near_core.h"

namespace heddle::engine {

int nearest_core(int to, std::span<const int> candidates) {
  return *std::min_element(candidates.begin(), candidates.end(),
                           [&](int a, int b) { return std::abs(a - to) < std::abs(b - to); });
}

}  // namespace heddle::engine
