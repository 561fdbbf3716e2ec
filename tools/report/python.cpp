// SPDX-License-Identifier: BSD-3-Clause
// python.cpp - finds an interpreter and the package, and waits for its end.
#include "report/python.h"

#include <fmt/format.h>
#include <heddle/status.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace heddle::report {
namespace {

namespace fs = std::filesystem;

/// Runs it with our output, or with none. 127: it could not be started.
int status_of(const std::vector<std::string>& words, bool silent) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw error("cannot start a process");
  if (child == 0) {
    if (silent && freopen("/dev/null", "w", stderr) == nullptr) _exit(127);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

/// The folder that holds the package: installed, or beside the program in its build.
std::string folder_of(const std::string& module) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* way : {HEDDLE_BIN_TO_PYTHON, "../python"})
    if (const fs::path folder = (here / way).lexically_normal(); fs::exists(folder / module))
      return folder.string();
  throw error(
      fmt::format("Heddle's Python package {} is not installed: it belongs to "
                  "python3-heddle, or build with HEDDLE_PYTHON=ON",
                  module));
}

/// PATH may begin with a Python that has no packages; Debian's own is where they are installed to.
std::string interpreter() {
  constexpr int not_there = 127;
  bool any = false;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const int status = status_of({python, "-c", "import matplotlib"}, true);
    if (status == 0) return python;
    any = any || status != not_there;
  }
  throw error(any ? "a PDF needs matplotlib for Python; on Debian: apt install python3-matplotlib"
                  : "a PDF needs python3, which is not in PATH; on Debian: apt install "
                    "python3-matplotlib");
}

}  // namespace

int run_module(const std::string& module, const std::vector<std::string>& arguments) {
  const std::string folder = folder_of(module);
  const char* before = std::getenv("PYTHONPATH");
  setenv("PYTHONPATH", (before != nullptr ? folder + ':' + before : folder).c_str(), 1);
  std::vector<std::string> words{interpreter(), "-B", "-m", module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return status_of(words, false);
}

}  // namespace heddle::report
