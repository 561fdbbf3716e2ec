// SPDX-License-Identifier: BSD-3-Clause
#include "system/job_processes.h"

#include <fstream>
#include <iterator>

namespace heddle::test {

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::filesystem::path folder_of(pid_t process) {
  return "/proc/" + std::to_string(process);
}

pid_t parent_of(pid_t process) {
  std::ifstream status(folder_of(process) / "status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  return 0;
}

std::vector<pid_t> with_command(const child& job, const std::string& text) {
  std::vector<pid_t> found;
  for (const pid_t process : job.marked())
    if (contents(folder_of(process) / "cmdline").find(text) != std::string::npos)
      found.push_back(process);
  return found;
}

// A guardian has the command line of the agent that forked it, but has closed its output.
std::vector<pid_t> agents_of(const child& job) {
  std::vector<pid_t> agents;
  for (const pid_t process : with_command(job, std::string("heddle\0agent", 12)))
    if (std::filesystem::is_symlink(folder_of(process) / "fd" / "1")) agents.push_back(process);
  return agents;
}

pid_t agent_on(const child& job, const std::string& host) {
  for (const pid_t process : agents_of(job)) {
    const std::string environment = '\0' + contents(folder_of(process) / "environ");
    const std::string home = '\0' + ("HOME=/home/at/" + host) + '\0';
    if (environment.find(home) != std::string::npos) return process;
  }
  return -1;
}

}  // namespace heddle::test
