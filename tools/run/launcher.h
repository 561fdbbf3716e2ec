// SPDX-License-Identifier: BSD-3-Clause
// launcher.h - starts the ranks of a job, here or on other hosts, and stays until the last one is
// gone.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/launcher_protocol.h"
#include "run/binding.h"
#include "run/hosts.h"
#include "run/programs.h"

namespace heddle::tools {

inline constexpr int most_ranks = bootstrap::protocol::max_ranks;

struct launch_options {
  int ranks = 1;                           ///< 1 to most_ranks
  std::string program{};                   ///< looked up in PATH when it has no slash
  std::vector<std::string> arguments{};    ///< without the program itself
  std::vector<std::string> environment{};  ///< NAME=value, added to this process's own
  bool prefix = false;                     ///< lead each line of output with "[rank] "
  bool keep_going = false;                 ///< a failing rank does not end the others
  bool ranks_explain = false;  ///< ranks say themselves why they fail: only signals are reported
  binding bind{};
  std::vector<program_part> further{};  ///< programs of the last ranks, which `ranks` counts too
  std::vector<wrapper> wrappers{};
  std::string output_folder{};  ///< see crew_orders
  int timeout_s = 0;            ///< after which the job is ended; 0: never
  int straggler_s = 0;          ///< when half of the ranks have exited, the others are ended after
                                ///< so long, for they may be stopped; 0: never
  std::vector<host_ranks> hosts{};  ///< where the ranks run, in order; none: here
  reach way{};                      ///< to the hosts
  std::function<void(std::string_view)> take_output{};  ///< in place of this process's output
};

/// Runs the job and returns its exit status: 0, or that of the first rank to fail (128 + signal
/// number when a signal killed it); 127 when there is no such program, 126 when it cannot be run;
/// 124 when the time was over.
///
/// Rank 0 reads this process's input, the others nothing. Signals that ask for an end, and SIGUSR1
/// and SIGUSR2, go on to the ranks. When it returns, the ranks and what they left in their process
/// groups are gone; when this process is killed, they are killed.
/// Needs a process with one thread, since it forks and takes over signals. Throws error (no more
/// processes, descriptors ...) and usage_error.
[[nodiscard]] int launch(const launch_options& options);

/// Whether this process is a rank of a job, of launch() or another launcher: bootstrap/ways.h.
/// Throws error: it looks like one, and cannot join.
[[nodiscard]] bool inside_job();

/// launch() with this very program and command line, for commands that are ranks of their own job:
/// the started ones find themselves inside_job(). Ignores options.program and options.arguments.
[[nodiscard]] int launch_self(launch_options options);

}  // namespace heddle::tools
