// SPDX-License-Identifier: BSD-3-Clause
// studies.h - the commands of heddle_studies. Each function adds one; `code` becomes the exit
// status when it has run, and must outlive the parsing.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Progress mode adaptive beside what it chooses between.
void add_adaptive(CLI::App& studies, int& code);
/// What leaving a get to an executor costs.
void add_offload(CLI::App& studies, int& code);

}  // namespace heddle::bench
