// SPDX-License-Identifier: BSD-3-Clause
// special.h - the rare reasons for which calls of a lane do not just go ahead, in one word: those
// that do go ahead pay one load and one branch for all of them.
#pragma once
#include <atomic>
#include <cstdint>

namespace heddle::sync {

enum class special : std::uint8_t {
  in_child = 1,   ///< this process was forked from one that uses Heddle (fork.h)
  looked_at = 2,  ///< HEDDLE_CHECKS is on (misuse.h)
  watched = 4,    ///< operations are recorded, or a tool has set hooks (src/tracing)
};

namespace detail {
extern constinit std::atomic<std::uint8_t> specials;
}

// Relaxed, all of them: a child's only thread finds its bit set before fork() returns, and who was
// about to make a mistake when a world began to look may still make it.
[[nodiscard]] inline bool is_special() noexcept {
  return detail::specials.load(std::memory_order_relaxed) != 0;
}
[[nodiscard]] inline bool is(special one) noexcept {
  return (detail::specials.load(std::memory_order_relaxed) & static_cast<std::uint8_t>(one)) != 0;
}
/// True: it is that and nothing else.
[[nodiscard]] inline bool is_only(special one) noexcept {
  return detail::specials.load(std::memory_order_relaxed) == static_cast<std::uint8_t>(one);
}
/// For good, but for `watched`.
inline void becomes(special one) noexcept {
  detail::specials.fetch_or(static_cast<std::uint8_t>(one), std::memory_order_relaxed);
}
inline void is_no_more(special one) noexcept {
  detail::specials.fetch_and(static_cast<std::uint8_t>(~static_cast<unsigned>(one)),
                             std::memory_order_relaxed);
}

}  // namespace heddle::sync
