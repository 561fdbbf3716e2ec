// SPDX-License-Identifier: BSD-3-Clause
// commands.h - the subcommands of `heddle bench`. Each function adds one or some; `code` becomes
// the exit status when it has run, and must outlive the parsing.
#pragma once
namespace CLI {  // NOLINT: not our name
class App;
}

namespace heddle::bench {

/// Those that measure in alternating rounds: latency, bandwidth, rate, mt-pingpong ...
void add_benchmarks(CLI::App& bench, int& code);
void add_convolution(CLI::App& bench, int& code);
void add_table(CLI::App& bench, int& code);

}  // namespace heddle::bench
