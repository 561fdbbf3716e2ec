// SPDX-License-Identifier: BSD-3-Clause
#include "run/launcher.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "bootstrap/ways.h"
#include "exit_status.h"
#include "run/failure.h"
#include "run/job_environment.h"
#include "run/supervisor.h"

namespace heddle::tools {

namespace {

void check(const launch_options& options) {
  if (options.ranks < 1 || options.ranks > most_ranks)
    throw usage_error(fmt::format("a job has 1 to {} ranks, not {}", most_ranks, options.ranks));
  check_settings(options.environment);
}

std::vector<program_part> parts_of(const launch_options& options) {
  program_part first{options.ranks, options.arguments};
  first.words.insert(first.words.begin(), options.program);
  std::vector<program_part> parts{first};
  for (const program_part& part : options.further) {
    parts.front().ranks -= part.ranks;
    parts.push_back(part);
  }
  if (parts.front().ranks < 1)
    throw usage_error(
        fmt::format("{} ranks are too few for {} programs", options.ranks, parts.size()));
  return parts;
}

// So that no descriptor of the launcher's gets the number of a standard one.
void open_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", O_RDWR);
}

std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.empty()) throw error("read this process's own command line: /proc is not there");
  return words;
}

}  // namespace

int launch(const launch_options& options) {
  check(options);
  rank_commands what = plan_commands(parts_of(options), options.wrappers);
  open_standard_descriptors();
  return supervisor(options, std::move(what)).run();
}

bool inside_job() {
  return bootstrap::way_to_join() != bootstrap::way::alone;
}

int launch_self(launch_options options) {
  std::error_code problem;
  options.program = std::filesystem::read_symlink("/proc/self/exe", problem).string();
  if (problem) fail_errno(problem.value(), "find this program's own file");
  if (!options.hosts.empty() && !options.way.heddle.empty()) options.program = options.way.heddle;
  std::vector<std::string> words = own_command_line();
  options.arguments.assign(words.begin() + 1, words.end());
  return launch(options);
}

}  // namespace heddle::tools
