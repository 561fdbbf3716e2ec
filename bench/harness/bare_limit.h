// SPDX-License-Identifier: BSD-3-Clause
// bare_limit.h - which bare limit of the machine belongs to which benchmark.
#pragma once
#include <functional>
#include <string>

#include "harness/spec.h"

namespace heddle::bench {

/// Measures the limit once, for about the spec's time: seconds per operation, as figure() takes
/// them. Empty when nothing bare corresponds. `backend` is shm or tcp.
[[nodiscard]] std::function<double()> bare_limit(const spec& s, const std::string& backend,
                                                 bare::core_pair cores);

}  // namespace heddle::bench
