// SPDX-License-Identifier: BSD-3-Clause
// commands.h - the subcommands of `heddle bench`. Each function adds one or some; `code` becomes
// the exit status when it has run, and must outlive the parsing.
#pragma once
namespace CLI {  // NOLINT: not our name
class App;
}

namespace heddle::bench {

void add_common(CLI::App& bench, int& code);         ///< latency, bandwidth and rate
void add_multithreaded(CLI::App& bench, int& code);  ///< mt-pingpong and mt-rate
void add_overhead(CLI::App& bench, int& code);
void add_overlap(CLI::App& bench, int& code);
void add_background(CLI::App& bench, int& code);
void add_gups(CLI::App& bench, int& code);
void add_convolution(CLI::App& bench, int& code);

}  // namespace heddle::bench
