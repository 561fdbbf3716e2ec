// SPDX-License-Identifier: BSD-3-Clause
// wake_cost.h - what waking a sleeping thread costs here, and for how long it pays to stay awake.
#pragma once
#include <heddle/info.h>

#include <algorithm>
#include <cstdint>

namespace heddle {

/// As long as sleeping would cost: arming before it and waking after it, about two wakes. And
/// as long again, because the peer that waits for this thread's answer then sleeps as well.
/// Bounded, because what was measured may have been a busy moment. Nanoseconds.
[[nodiscard]] constexpr std::uint64_t spin_budget_ns(std::uint64_t wake_ns) noexcept {
  return std::clamp<std::uint64_t>(4 * wake_ns, 10'000, 200'000);
}

}  // namespace heddle
