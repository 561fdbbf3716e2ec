// gups.h - `heddle bench gups`: random updates of the other ranks' memory, verified.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Adds the command.
void add_gups(CLI::App& bench, int& code);

}  // namespace heddle::bench
