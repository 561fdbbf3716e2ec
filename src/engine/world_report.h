// SPDX-License-Identifier: BSD-3-Clause
// world_report.h - what a world waits for, as JSON, for `heddle info --pid`.
#pragma once
#include <string>

namespace heddle::engine {

class world_core;

/// What everything waits for, as an object. Any thread, also while all others hang, or the world is
/// still being made.
[[nodiscard]] std::string report(world_core& world);

}  // namespace heddle::engine
