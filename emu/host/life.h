// SPDX-License-Identifier: BSD-3-Clause
// life.h - a word in shared memory by which others see at once that this process has died.
//
// A thread that does nothing else registers the word as a held robust futex; when the process ends,
// however it ends, the kernel marks the word. So asking whether a peer lives is one load.
#pragma once
#include <atomic>
#include <cstdint>

namespace host {

using life_word = std::atomic<std::uint32_t>;
inline constexpr std::uint32_t life_ended = 0x4000'0000;  // FUTEX_OWNER_DIED, set by the kernel

/// Puts a value that says "alive" into `word`, which must stay mapped until the process ends or
/// end_life(). Returns the value; 0: the system has no room for a thread. Where the system does not
/// mark words (qemu-user), says so, and a process that is killed seems to live on.
[[nodiscard]] std::uint32_t begin_life(life_word& word);
/// The process goes on, but for others it has ended.
void end_life(life_word& word) noexcept;

/// Whether the word still holds what begin_life() put there.
[[nodiscard]] inline bool lives(const life_word& word, std::uint32_t value) noexcept {
  // Relaxed: nothing is published by dying.
  return value != 0 && word.load(std::memory_order_relaxed) == value;
}

}  // namespace host
