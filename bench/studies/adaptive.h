// SPDX-License-Identifier: BSD-3-Clause
// adaptive.h - `heddle_studies adaptive`: progress mode adaptive beside what it chooses between.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Adds the command `adaptive`.
void add_adaptive(CLI::App& bench, int& code);

}  // namespace heddle::bench
