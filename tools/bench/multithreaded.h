// multithreaded.h - `heddle bench mt-pingpong` and `mt-rate`: what more threads per rank bring.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Adds both commands.
void add_multithreaded(CLI::App& bench, int& code);

}  // namespace heddle::bench
