// convolution.h - `heddle bench convolution`: what overlap is worth to a program with halos.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Adds the command.
void add_convolution(CLI::App& bench, int& code);

}  // namespace heddle::bench
