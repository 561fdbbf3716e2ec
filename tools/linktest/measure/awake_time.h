// SPDX-License-Identifier: BSD-3-Clause
// awake_time.h - how long somebody has waited, without the time in which he was stopped himself.
#pragma once
#include <algorithm>
#include <chrono>

namespace heddle::linktest {

/// Since it was made. Whoever looks at least once a turn is told the whole time; from one look to
/// the next a turn at most counts: a process that was stopped, as by Ctrl-Z, could not look, nor
/// could it hear a peer.
class awake_time {
 public:
  static constexpr std::chrono::nanoseconds turn = std::chrono::milliseconds(100);

  std::chrono::nanoseconds passed() noexcept {
    const auto now = std::chrono::steady_clock::now();
    passed_ += std::min<std::chrono::nanoseconds>(now - last_look_, turn);
    last_look_ = now;
    return passed_;
  }

 private:
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
  std::chrono::nanoseconds passed_{0};
};

}  // namespace heddle::linktest
