// SPDX-License-Identifier: BSD-3-Clause
// linktest_turns.h - `heddle_studies linktest`: the time to a whole matrix beside OpenMPI's.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Adds the command `linktest`.
void add_linktest_turns(CLI::App& bench, int& code);

}  // namespace heddle::bench
