// SPDX-License-Identifier: BSD-3-Clause
// signals.h - turns the signals the launcher cares about into events, and undoes that for ranks.
#pragma once
#include <signal.h>

#include <array>

#include "bootstrap/launcher_protocol.h"  // unique_fd

namespace heddle::tools {

/// While it lives, signals arrive at fd() instead of acting. A signal that was ignored when it was
/// made (nohup, background jobs of a script) stays ignored, here and in the ranks. One thread.
class signal_catcher {
 public:
  signal_catcher();  ///< throws error
  ~signal_catcher();
  signal_catcher(const signal_catcher&) = delete;
  signal_catcher& operator=(const signal_catcher&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// The next one that arrived, or 0.
  [[nodiscard]] int take() noexcept;

  /// Puts everything back as it was. Async-signal-safe: a rank calls it between fork and exec.
  void restore() const noexcept;

 private:
  /// Must not stop or kill the launcher: a closed pipe, and reading or writing a terminal from the
  /// background.
  static constexpr std::array silenced{SIGPIPE, SIGTTIN, SIGTTOU, SIGCHLD};

  sigset_t caught_{}, mask_before_{};
  std::array<struct sigaction, silenced.size()> before_{};
  unique_fd fd_;
};

}  // namespace heddle::tools
