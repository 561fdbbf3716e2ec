// SPDX-License-Identifier: BSD-3-Clause
// programs.h - what each rank of a job runs: several programs, some of them behind a wrapper.
#pragma once
#include <string>
#include <vector>

namespace heddle::tools {

/// One program of a job and how many ranks run it.
struct program_part {
  int ranks = 1;
  std::vector<std::string> words{};  ///< the program, then its arguments
};

/// Something that runs a rank's program for it, such as a debugger.
struct wrapper {
  std::vector<int> ranks{};
  std::vector<std::string> words{};  ///< in front of the program
};

/// Cuts a command line at each ": -n N", as mpirun has it. The first part is for `ranks`. Throws
/// usage_error.
[[nodiscard]] std::vector<program_part> parse_programs(const std::vector<std::string>& words,
                                                       int ranks);
/// "0,4-7:gdb -batch -ex run -ex bt --args". Throws usage_error.
[[nodiscard]] wrapper parse_wrapper(const std::string& text);

/// The different command lines of a job, and which each rank runs.
struct rank_commands {
  std::vector<std::vector<std::string>> commands{};
  std::vector<int> of_rank{};  ///< an index in `commands`
};
/// Throws usage_error when a wrapper is for a rank that is not there.
[[nodiscard]] rank_commands plan_commands(const std::vector<program_part>& parts,
                                          const std::vector<wrapper>& wrappers);

}  // namespace heddle::tools
