// SPDX-License-Identifier: BSD-3-Clause
// wait_habit.h - whether a program waits for a large transfer as soon as it has left it to others,
// or computes first.
#pragma once
#include <algorithm>
#include <cstdint>

#include "sync/counters.h"

namespace heddle::engine {

/// One lane's. Any thread; the threads of a lane may overwrite each other's samples.
class wait_habit {
 public:
  /// A wait that begins so soon after a transfer was posted had nothing to compute before.
  static constexpr std::uint64_t at_once_ns = 20'000;
  /// After so many of these in a row the program is taken for one that always waits.
  static constexpr std::uint64_t believed_waits = 3;

  /// A transfer was left, `now_ns`, which is not 0.
  void leave(std::uint64_t now_ns) noexcept { left_at_ns_.set(now_ns); }
  /// One was left, and no wait has begun since.
  [[nodiscard]] bool has_left() const noexcept { return left_at_ns_.get() != 0; }
  /// The first wait behind it begins. Returns how long the program has computed.
  std::uint64_t wait(std::uint64_t now_ns) noexcept {
    const std::uint64_t computed = now_ns - std::min(now_ns, left_at_ns_.get());
    left_at_ns_.set(0);
    const std::uint64_t in_a_row = std::min(waits_at_once_.get() + 1, believed_waits);
    waits_at_once_.set(computed < at_once_ns ? in_a_row : 0);
    return computed;
  }
  [[nodiscard]] bool waits_at_once() const noexcept {
    return waits_at_once_.get() >= believed_waits;
  }

 private:
  sync::owned_counter left_at_ns_;     // 0: a wait has begun since
  sync::owned_counter waits_at_once_;  // in a row
};

}  // namespace heddle::engine
