// SPDX-License-Identifier: BSD-3-Clause
// rank_process.h - starts one rank's process, and puts into words how one ended.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "run/guardian.h"
#include "run/signals.h"

namespace heddle::tools {

/// What exec needs, made before fork since nothing may be allocated after it.
struct command {
  std::string path;
  std::vector<std::string> arguments;    ///< the program's name first
  std::vector<std::string> environment;  ///< NAME=value, complete
};

/// Where a rank's process stands. Descriptors stay the caller's; -1 means to share the launcher's.
struct placement {
  int boot = -1;  ///< inherited under the same number
  int input = -1, output = -1, errors = -1;
  std::vector<int> cpus{};   ///< empty: anywhere
  bool own_session = false;  ///< not only a process group: nothing typed at a terminal reaches it
};

/// What a rank's process must undo or report to on its way to exec.
struct surroundings {
  const signal_catcher& signals;
  const guardian& guard;
  rlimit open_files;  ///< as it was before the launcher raised it
};

struct started {
  pid_t pid = -1;
  int exec_error = 0;  ///< errno of exec; the process is then reaped already
};

/// Starts the process, leader of its own process group, to be killed when this thread ends.
/// Throws error when there can be no more processes.
[[nodiscard]] started start_rank(const command& what, const placement& where,
                                 const surroundings& around);

/// A child of this process that is gone.
struct ended_child {
  pid_t process;
  int wait_status;  ///< as waitpid gives it
};

/// All that have ended since the last call.
[[nodiscard]] std::vector<ended_child> reap_children();

/// Full path of `program`, looked up in `path` when it has no slash. When it cannot be run: empty,
/// and `problem` is errno's reason.
[[nodiscard]] std::string find_program(const std::string& program, const std::string& path,
                                       int& problem);

/// "exited with status 3", "was killed by signal 9 (SIGKILL)".
[[nodiscard]] std::string describe_end(int wait_status);
/// As a shell would give it: the exit status, or 128 + the signal's number.
[[nodiscard]] int shell_status(int wait_status) noexcept;

/// CPUs this process may use, in ascending order. Throws error.
[[nodiscard]] std::vector<int> allowed_cpus();

}  // namespace heddle::tools
