// SPDX-License-Identifier: BSD-3-Clause
// programs.h - where programs are, and one run beside us that can not outlive us.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "parts/system.h"

namespace heddle::bench {

/// What to run. Setting names are "NAME=value"; they come on top of our environment, from which
/// every name that begins with one of `without` is left out first.
struct command {
  std::string program;  ///< a path
  std::vector<std::string> arguments = {};
  std::vector<std::string> settings = {};
  std::vector<std::string> without = {};
  int end_signal = 9;  ///< what ends it when we end: SIGKILL, or a request to clean up first
  /// In a process group of its own, without input: who ends our group lets it clean up.
  bool own_group = false;
  bool show_output = false;  ///< on our own standard output and error; otherwise kept for output()
};

/// Finds an executable file in PATH; empty: there is none.
[[nodiscard]] std::string find_program(const std::string& name);

/// What comes with the program heddle lies relative to it, built or installed: in bin a program
/// that users start, in libexec one that only heddle starts, in share a file that heddle reads.
[[nodiscard]] std::filesystem::path neighbour_program(const std::string& name);
[[nodiscard]] std::filesystem::path companion_program(const std::string& name);
[[nodiscard]] std::filesystem::path companion_file(const std::string& name);

/// A running program. It is ended when this object ends, and when the thread that made it does; one
/// that takes more than five seconds to clean up is killed.
class child {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Throws std::system_error. May be called while other threads run.
  explicit child(const command& what);
  ~child();

  /// True once it has ended; false when `deadline` came first.
  [[nodiscard]] bool wait_until(time_point deadline);
  /// After wait_until() was true: its exit status, or 128 plus the signal that ended it.
  [[nodiscard]] int exit_status() const noexcept { return exit_status_; }
  /// What it has printed so far, standard output and error together.
  [[nodiscard]] std::string output() const;

 private:
  bare::unique_fd printed_;
  bare::unique_fd ended_;  // readable when the process has ended
  int end_signal_;
  pid_t id_ = -1;  // -1: reaped
  int exit_status_ = -1;
};

}  // namespace heddle::bench
