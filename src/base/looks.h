// SPDX-License-Identifier: BSD-3-Clause
// looks.h - who has not looked has not seen silence.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

namespace heddle {

/// Looks at peers, now and then: how much of the time between two is not to be counted as a peer's
/// silence, because this process was stopped, had no core or did not wait for anybody.
class looks {
 public:
  explicit looks(std::uint64_t first) noexcept : last_(first) {}

  /// What is to be taken off the time since the last look, in the unit of both. A quarter of the
  /// time-out at most counts, so whoever is given up was asked before, and looked at after that.
  [[nodiscard]] std::uint64_t unwatched(std::uint64_t now, std::uint64_t timeout) noexcept {
    const std::uint64_t gap = now - std::exchange(last_, now);
    return gap - std::min(gap, timeout / 4);
  }

 private:
  std::uint64_t last_;
};

}  // namespace heddle
