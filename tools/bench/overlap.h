// overlap.h - `heddle bench overlap`: how much of a transfer hides behind computing, on each side.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Adds the command `overlap`.
void add_overlap(CLI::App& bench, int& code);

}  // namespace heddle::bench
