// SPDX-License-Identifier: BSD-3-Clause
// copy.h - how bytes get into memory that a CPU may be polling.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace host {

/// Copies in ascending order of addresses; each aligned 8-byte word, and whatever was copied before
/// it, is visible to whoever sees it: STRONG_ORDER.
void copy_ascending(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

/// Copies in no particular order, but an aligned 1, 2, 4 or 8 bytes in one piece.
void copy_any_order(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

/// Between our memory and that of another process, at most 8 bytes in one piece. 0 or an errno.
[[nodiscard]] int write_to_process(pid_t pid, std::uint64_t to, const std::byte* from,
                                   std::size_t bytes) noexcept;
/// Word by word in ascending order, as copy_ascending does.
[[nodiscard]] int write_to_process_ascending(pid_t pid, std::uint64_t to, const std::byte* from,
                                             std::size_t bytes) noexcept;
[[nodiscard]] int read_from_process(pid_t pid, std::byte* to, std::uint64_t from,
                                    std::size_t bytes) noexcept;

}  // namespace host
