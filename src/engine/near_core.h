// SPDX-License-Identifier: BSD-3-Clause
// near_core.h - which core is near another. By hwloc in near_core.cpp; in a library built without
// it (HEDDLE_HWLOC=OFF) by number, in near_core_by_number.cpp.
#pragma once
#include <span>

namespace heddle::engine {

/// Of `candidates`, at least one, the core that shares the innermost part of the machine (cache,
/// package) with core `to`; the first of several. Where that is not known: any of them.
[[nodiscard]] int nearest_core(int to, std::span<const int> candidates);

}  // namespace heddle::engine
