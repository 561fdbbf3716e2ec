// SPDX-License-Identifier: BSD-3-Clause
// limited.h - blocking forms that give up: posted, waited for, and taken back when their time is
// up.
#pragma once
#include <heddle/completion.h>
#include <heddle/lane.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace heddle::engine {

/// A point in time, as far from its making as was asked for.
class limit {
 public:
  explicit limit(std::chrono::nanoseconds from_now) noexcept
      : end_ns_(now_ns() +
                static_cast<std::uint64_t>(std::max(from_now.count(), std::int64_t{0}))) {}
  [[nodiscard]] bool has_passed() const noexcept { return left().count() == 0; }
  /// 0: it has passed.
  [[nodiscard]] std::chrono::nanoseconds left() const noexcept {
    const std::uint64_t now = now_ns();
    return std::chrono::nanoseconds(now < end_ns_ ? end_ns_ - now : 0);
  }

 private:
  std::uint64_t end_ns_;
};

/// Between two questions to a lane that is busy.
inline constexpr std::chrono::nanoseconds busy_pause{20'000};

/// What was posted with `f` and has not ended in time: its outcome if it ends in spite of that,
/// else timed_out, and it is as if it had never been posted.
inline outcome take_back(lane& on, flag& f, rank peer) noexcept {
  status taken = on.try_cancel(f);
  while (is_busy(taken) && !on.wait_for(f, busy_pause)) taken = on.try_cancel(f);
  if (on.wait(f) == status::closed && !f.ready()) return {.code = status::closed, .peer = peer};
  if (taken == status::done) return {.code = status::timed_out, .peer = peer};
  return f.result();
}

/// Posts by `attempt(flag)`, again as long as there is no room, and waits for the end, for what
/// lane::try_cancel can take back. `peer`: for an outcome that names none.
template <class F>
outcome end_within(lane& on, std::chrono::nanoseconds time, rank peer, F&& attempt) noexcept {
  const limit until(time);
  flag f;
  status s = attempt(f);
  for (; is_busy(s); s = attempt(f)) {
    if (until.has_passed()) return {.code = status::timed_out, .peer = peer};
    flag nothing;
    if (on.poll() == 0) on.wait_for(nothing, std::min(until.left(), busy_pause));
  }
  if (s != status::posted) return {.code = s, .peer = peer};
  return on.wait_for(f, until.left()) ? f.result() : take_back(on, f, peer);
}

}  // namespace heddle::engine
