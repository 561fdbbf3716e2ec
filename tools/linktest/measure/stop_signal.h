// SPDX-License-Identifier: BSD-3-Clause
// stop_signal.h - Ctrl-C as a wish: remembered, so that the ranks can end together and tidily.
#pragma once

namespace heddle::linktest {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is only remembered; one that comes a while
/// after it, of whatever kind, acts as usual. What comes at once is the same wish, told twice: by
/// timeout(1), which tells a launcher and its group, or by a launcher beside the terminal. One at a
/// time in a process.
class stop_signal {
 public:
  stop_signal() noexcept;
  ~stop_signal();
  stop_signal(const stop_signal&) = delete;
  stop_signal& operator=(const stop_signal&) = delete;

  /// Its number, or 0. Any thread.
  [[nodiscard]] static int seen() noexcept;
};

}  // namespace heddle::linktest
