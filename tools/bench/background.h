// background.h - `heddle bench background`: a ping-pong that only Heddle's own thread moves
// forward.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

/// Adds the command.
void add_background(CLI::App& bench, int& code);

}  // namespace heddle::bench
