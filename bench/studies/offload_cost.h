// SPDX-License-Identifier: BSD-3-Clause
// offload_cost.h - `heddle_studies offload`: what leaving a get to an executor costs.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Adds the command `offload`.
void add_offload_cost(CLI::App& studies, int& code);

}  // namespace heddle::bench
