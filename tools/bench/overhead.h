// overhead.h - `heddle bench latency-overhead`: what a get takes, and what of that its call takes.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Adds the command.
void add_overhead(CLI::App& bench, int& code);

}  // namespace heddle::bench
