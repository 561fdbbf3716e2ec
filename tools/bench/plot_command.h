// plot_command.h - the command line of `heddle bench plot`.
#pragma once
#include <CLI/CLI.hpp>

namespace heddle::bench {

void add_plot(CLI::App& bench, int& exit_code);

}  // namespace heddle::bench
