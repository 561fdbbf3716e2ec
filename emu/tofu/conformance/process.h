// SPDX-License-Identifier: BSD-3-Clause
// process.h - starting this program again as another process, with time limits on all of it.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace conformance {

/// A moment after which waiting is over.
class deadline {
 public:
  explicit deadline(double seconds)
      : at_(std::chrono::steady_clock::now() +
            std::chrono::microseconds(std::int64_t(seconds * 1e6))) {}
  [[nodiscard]] bool passed() const { return std::chrono::steady_clock::now() >= at_; }
  [[nodiscard]] double left() const;  ///< seconds, at least 0

 private:
  std::chrono::steady_clock::time_point at_;
};

/// This program started again. Its descriptor 3 is the other end of ours(); what it writes to
/// stderr is kept. The destructor kills it.
///
/// It is started by posix_spawn, which does not let parent and child share pages: a fork could move
/// memory away from under the device.
class process {
 public:
  process(std::vector<std::string> arguments, int rank);
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  [[nodiscard]] int ours() const { return ours_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill_now();
  /// Waits for its end. False: it still runs.
  bool wait(double seconds);
  [[nodiscard]] bool ended() { return wait(0); }
  [[nodiscard]] bool killed_by_signal() const;
  [[nodiscard]] bool ended_well() const { return ended_ && status_ == 0; }
  /// "exit status 3", "signal 6", "still running"; with the last line it wrote to stderr.
  [[nodiscard]] std::string ending() const;
  /// All it wrote to stderr so far.
  [[nodiscard]] std::string said() const;

  static constexpr int its_end = 3;

 private:
  pid_t pid_ = -1;
  int ours_ = -1, errors_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

/// Dies with the process that started this one, where the system can arrange it.
void die_with_parent();

}  // namespace conformance
