// SPDX-License-Identifier: BSD-3-Clause
// patience.h - waiting for descriptors up to a limit that a stopped process does not use up.
#pragma once
#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/clock.h"

namespace heddle::bootstrap {

/// One thread.
class patience {
 public:
  /// 0: without limit.
  explicit patience(std::uint64_t limit_ms) noexcept : limit_ms_(limit_ms) {}

  [[nodiscard]] bool over() const noexcept {
    return limit_ms_ != 0 && waited_ns_ >= limit_ms_ * ms;
  }
  /// So far; at the end the limit.
  [[nodiscard]] std::uint64_t waited_s() const noexcept { return waited_ns_ / (1000 * ms); }

  /// Waits for one of them, at most `most_ms` (up to 1000) and what is left. Returns whether one is
  /// ready. A process that was stopped meanwhile has not waited longer than it would have.
  bool wait(std::span<pollfd> descriptors, std::uint64_t most_ms = slice_ms) noexcept {
    std::uint64_t slice = std::min(most_ms, slice_ms);
    if (limit_ms_ != 0) slice = std::min(slice, limit_ms_ - std::min(limit_ms_, waited_ns_ / ms));
    const std::uint64_t begin = now_ns();
    const int ready = poll(descriptors.data(), descriptors.size(), static_cast<int>(slice));
    waited_ns_ += ready == 0 ? slice * ms : std::min(now_ns() - begin, slice * ms);
    return ready > 0;
  }

 private:
  static constexpr std::uint64_t slice_ms = 1000, ms = 1'000'000;
  std::uint64_t limit_ms_, waited_ns_ = 0;
};

}  // namespace heddle::bootstrap
