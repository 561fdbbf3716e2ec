// SPDX-License-Identifier: BSD-3-Clause
// job_processes.h - the processes of a job that a test has started, as others on the machine see
// them.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "system/child.h"

namespace heddle::test {

[[nodiscard]] std::string contents(const std::filesystem::path& file);
[[nodiscard]] std::filesystem::path folder_of(pid_t process);
/// 0: it is gone.
[[nodiscard]] pid_t parent_of(pid_t process);

/// Those of the job's processes whose command line holds `text`.
[[nodiscard]] std::vector<pid_t> with_command(const child& job, const std::string& text);
/// Agents, not the guardians that they fork.
[[nodiscard]] std::vector<pid_t> agents_of(const child& job);
/// The agent on that host, by its HOME; -1: there is none.
[[nodiscard]] pid_t agent_on(const child& job, const std::string& host);

}  // namespace heddle::test
