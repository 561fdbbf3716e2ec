// SPDX-License-Identifier: BSD-3-Clause
// subcommand.h - how a folder of tools/ adds its command to `heddle`.
//
// A folder x holds a CMakeLists.txt that adds its sources to the target heddle_tools and one
// function add_x. The list of all commands is made by CMake from the folders that are there.
#pragma once
namespace CLI {  // NOLINT: not our name
class App;
}

namespace heddle::tools {

/// Adds a command to `app`. Its callback does the work and sets `exit_code`, the program's exit
/// status; it throws usage_error or heddle::error for what the user should read. Both outlive the
/// parsing.
void add_run(CLI::App& app, int& exit_code);
void add_linktest(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_info(CLI::App& app, int& exit_code);
void add_trace(CLI::App& app, int& exit_code);

/// All of the above that this build contains, in the order of `heddle --help`.
void add_subcommands(CLI::App& app, int& exit_code);

/// Stands for the "--" before a command to run, which CLI11 would take for itself.
inline constexpr const char* command_mark = "\x1f";

}  // namespace heddle::tools
