#include "run/launcher.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "bootstrap/ways.h"
#include "exit_status.h"
#include "run/failure.h"
#include "run/supervisor.h"

namespace heddle::tools {

namespace protocol = bootstrap::protocol;

namespace {

std::string_view name_in(std::string_view pair) {
  return pair.substr(0, pair.find('='));
}

// This process's environment with `added` in place of what has the same names, and without the
// names the launcher sets for each rank.
std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string_view> replaced{protocol::fd_variable, protocol::rank_variable,
                                         protocol::size_variable, bootstrap::boot_variable};
  for (const std::string& pair : added) replaced.push_back(name_in(pair));
  std::vector<std::string> all;
  for (char** pair = environ; pair != nullptr && *pair != nullptr; ++pair)
    if (std::find(replaced.begin(), replaced.end(), name_in(*pair)) == replaced.end())
      all.emplace_back(*pair);
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

std::string path_in(const std::vector<std::string>& environment) {
  constexpr std::string_view name = "PATH=";
  for (const std::string& pair : environment)
    if (pair.starts_with(name)) return pair.substr(name.size());
  return "/usr/local/bin:/usr/bin:/bin";
}

void check(const launch_options& options) {
  if (options.ranks < 1 || options.ranks > protocol::max_ranks)
    throw usage_error(
        fmt::format("a job has 1 to {} ranks, not {}", protocol::max_ranks, options.ranks));
  for (const std::string& pair : options.environment) {
    if (pair.find('=') == std::string::npos || pair.front() == '=')
      throw usage_error(fmt::format("--env: '{}' sets no variable: write NAME=value", pair));
    for (const char* own :
         {protocol::fd_variable, protocol::rank_variable, protocol::size_variable})
      if (name_in(pair) == own)
        throw usage_error(fmt::format("--env: {} is set by the launcher for each rank", own));
  }
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
  open_standard_descriptors();
  command program;
  program.environment = environment_with(options.environment);
  int problem = 0;
  program.path = find_program(options.program, path_in(program.environment), problem);
  if (program.path.empty()) {
    say("cannot run {}: {}", options.program,
        problem == ENOENT ? "no such program" : strerrordesc_np(problem));
    return problem == ENOENT ? 127 : 126;
  }
  program.arguments = options.arguments;
  program.arguments.insert(program.arguments.begin(), options.program);
  supervisor job(options, std::move(program));
  return job.run();
}

bool inside_job() {
  return bootstrap::way_to_join() != bootstrap::way::alone;
}

int launch_self(launch_options options) {
  std::error_code problem;
  options.program = std::filesystem::read_symlink("/proc/self/exe", problem).string();
  if (problem) fail_errno(problem.value(), "find this program's own file");
  std::vector<std::string> words = own_command_line();
  options.arguments.assign(words.begin() + 1, words.end());
  return launch(options);
}

}  // namespace heddle::tools
