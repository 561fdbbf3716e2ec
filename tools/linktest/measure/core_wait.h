// SPDX-License-Identifier: BSD-3-Clause
// core_wait.h - how long the calling thread was kept from a core: a rank that others keep from its
// core is slow without any fault of the network.
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace heddle::linktest {

/// Begins when it is made. Of the thread that made it, and used by that one only.
class core_wait {
 public:
  core_wait();

  /// Which part of the time since then the thread could have run, but waited for a core: 0 to 1. 0
  /// where the kernel does not tell (/proc/thread-self/schedstat).
  [[nodiscard]] double share() const;

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] static std::chrono::nanoseconds waited();

  clock::time_point begin_ = clock::now();
  std::chrono::nanoseconds waited_before_;
};

/// Its share, for another rank.
[[nodiscard]] std::string as_text(const core_wait& watched);
/// The shares in such texts; 0 for an empty one, of a rank that is lost.
[[nodiscard]] std::vector<double> shares_in(const std::vector<std::string>& texts);

/// More than this share makes times that say little of the network.
constexpr double disturbing_wait = 0.1;

}  // namespace heddle::linktest
