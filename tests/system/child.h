// SPDX-License-Identifier: BSD-3-Clause
// child.h - a program that a test starts and talks to as a user would.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace heddle::test {

/// How a program ended and what it said.
struct outcome {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out, err;
};

/// A running program. What it starts carries a mark of this object's in its environment.
class child {
 public:
  /// Input is empty. Output is collected by read_until and finish.
  explicit child(const std::vector<std::string>& command);
  ~child();  ///< kills it and all that carry its mark
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void send_signal(int signal) const;
  /// Writes to the program's input.
  void type(const std::string& text) const;
  void end_input();
  /// Reads its output until `text` has come `times` times, or the output ends.
  void read_until(const std::string& text, int times = 1);
  /// Waits for the end of the program without reading what it says.
  int wait();
  /// Ends its input, reads all it says and waits for its end.
  outcome finish();

  /// Processes alive that carry the mark, the program itself included.
  [[nodiscard]] std::vector<pid_t> marked() const;
  /// Waits until none is left.
  void wait_for_none_marked() const;

 private:
  bool read_some();

  std::string mark_;
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1, errors_ = -1;
  outcome so_far_;
};

/// Runs `command` to its end with `input` to read.
[[nodiscard]] outcome run(const std::vector<std::string>& command, const std::string& input = "");

/// "heddle run" with `options`, then "--" and `program`.
[[nodiscard]] std::vector<std::string> heddle_run(const std::vector<std::string>& options,
                                                  const std::vector<std::string>& program);
/// The same for the probe, by its steps.
[[nodiscard]] std::vector<std::string> heddle_probe(const std::vector<std::string>& options,
                                                    const std::vector<std::string>& steps);

/// "heddle run" on pretended hosts ("a:2,b:2", see pretended_ssh.sh), with further `options`.
[[nodiscard]] std::vector<std::string> run_on_hosts(const std::string& hosts,
                                                    const std::vector<std::string>& options,
                                                    const std::vector<std::string>& program);
/// The same for the probe, by its steps.
[[nodiscard]] std::vector<std::string> probe_on_hosts(const std::string& hosts,
                                                      const std::vector<std::string>& options,
                                                      const std::vector<std::string>& steps);

/// `text` cut at line ends, sorted.
[[nodiscard]] std::vector<std::string> sorted_lines(const std::string& text);

}  // namespace heddle::test
