// SPDX-License-Identifier: BSD-3-Clause
// job_environment.h - the environment in which a job's ranks begin.
#pragma once
#include <string>
#include <vector>

namespace heddle::tools {

/// Fails unless each of `added` is NAME=value and sets no name that the launcher sets. Throws
/// usage_error.
void check_settings(const std::vector<std::string>& added);

/// This process's environment with `added` in place of what has the same names, and without the
/// names the launcher sets for each rank.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::string>& added);

/// The same as it can be sent to other hosts: of the names that belong to a host, a login or a
/// session (HOME, TMPDIR, DISPLAY, SSH_*, XDG_* ...) only those in `added`.
[[nodiscard]] std::vector<std::string> environment_to_send(const std::vector<std::string>& added);

/// What was sent, completed by this host's own values of those names, in `directory`.
[[nodiscard]] std::vector<std::string> environment_on_host(const std::vector<std::string>& sent,
                                                           const std::string& directory);

/// PATH in there, or the usual one.
[[nodiscard]] std::string path_in(const std::vector<std::string>& environment);

}  // namespace heddle::tools
