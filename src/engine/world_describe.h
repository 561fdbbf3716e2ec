// SPDX-License-Identifier: BSD-3-Clause
// world_describe.h - what a world tells of itself, for `heddle info`, for logs and for monitoring.
#pragma once
#include <string>

namespace heddle::engine {

class world_core;

/// A few lines for the log: what is otherwise asked for when something is wrong.
void tell_of_start(world_core& world);
/// See world::describe.
[[nodiscard]] std::string describe(world_core& world);
/// See world::metrics.
[[nodiscard]] std::string metrics(world_core& world);

}  // namespace heddle::engine
