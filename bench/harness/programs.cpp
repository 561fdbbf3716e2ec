// SPDX-License-Identifier: BSD-3-Clause
// programs.cpp - fork and exec with a death signal, a pidfd to wait on, and a memfd to print into.
// CMake knows the way from the running program to its companions.
#include "harness/programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace heddle::bench {
namespace {

constexpr std::chrono::seconds patience{5};

std::vector<std::string> environment_for(const command& what) {
  std::vector<std::string> settings = what.settings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string setting = *entry;
    const bool dropped =
        std::any_of(what.without.begin(), what.without.end(),
                    [&](const auto& prefix) { return setting.starts_with(prefix); });
    if (!dropped) settings.push_back(setting);
  }
  return settings;
}

/// The null-terminated array that exec wants; valid as long as `strings`.
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

/// In the new process, where only async-signal-safe calls are allowed, since other threads' locks
/// may have been copied while held: all it needs was made before. A descriptor of -1: as ours.
[[noreturn]] void become(const command& what, char* const* arguments, char* const* environment,
                         int input, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, what.end_signal);
  if (getppid() != parent) _exit(127);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);  // we may have files to write, it has not
  if (what.own_group) setpgid(0, 0);
  if (input >= 0) dup2(input, STDIN_FILENO);
  if (output >= 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
  }
  execve(what.program.c_str(), arguments, environment);
  _exit(127);
}

int remaining_ms(child::time_point deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp(left, milliseconds(0), milliseconds(1'000'000)).count());
}

std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace

std::filesystem::path neighbour_program(const std::string& name) {
  return program_folder() / name;
}

std::filesystem::path companion_program(const std::string& name) {
  return (program_folder() / HEDDLE_BIN_TO_LIBEXEC / name).lexically_normal();
}

std::filesystem::path companion_file(const std::string& name) {
  return (program_folder() / HEDDLE_BIN_TO_DATA / name).lexically_normal();
}

std::string find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = fmt::format("{}/{}", folder, name);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

child::child(const command& what) : end_signal_(what.end_signal) {
  std::vector<std::string> words{what.program};
  words.insert(words.end(), what.arguments.begin(), what.arguments.end());
  std::vector<std::string> settings = environment_for(what);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(settings);
  if (!what.show_output) {
    printed_ = bare::unique_fd(bare::checked(memfd_create("output", MFD_CLOEXEC), "memfd_create"));
  }
  bare::unique_fd nothing;
  if (what.own_group) {
    nothing = bare::unique_fd(bare::checked(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null"));
  }
  const pid_t parent = getpid();
  id_ = bare::checked(fork(), "fork");
  if (id_ == 0)
    become(what, arguments.data(), environment.data(), nothing.get(), printed_.get(), parent);
  ended_ = bare::unique_fd(static_cast<int>(syscall(SYS_pidfd_open, id_, 0)));
  if (ended_.get() < 0) {
    const int why = errno;
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    throw std::system_error(why, std::generic_category(), "pidfd_open");
  }
}

child::~child() {
  if (id_ < 0) return;
  kill(id_, end_signal_);
  if (end_signal_ != SIGKILL && wait_until(std::chrono::steady_clock::now() + patience)) return;
  kill(id_, SIGKILL);
  while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool child::wait_until(time_point deadline) {
  while (id_ >= 0) {
    pollfd event{ended_.get(), POLLIN, 0};
    const int ready = poll(&event, 1, remaining_ms(deadline));
    if (ready == 0) return false;
    int how = 0;
    if (ready < 0 || waitpid(id_, &how, 0) < 0) continue;  // EINTR
    exit_status_ = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    id_ = -1;
  }
  return true;
}

std::string child::output() const {
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t got = pread(printed_.get(), block, sizeof block, static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(block, static_cast<std::size_t>(got));
  }
}

}  // namespace heddle::bench
