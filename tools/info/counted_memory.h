// SPDX-License-Identifier: BSD-3-Clause
// counted_memory.h - how much memory this program has from `new`, for as long as that is counted.
#pragma once
#include <cstdint>

namespace heddle::tools {

/// What messages travel through is made in one piece of at least so many bytes.
inline constexpr std::int64_t large_block = 4096;

/// Bytes that the allocator has set aside, its rounding included.
struct memory_count {
  std::int64_t now = 0;                    ///< given out and not given back since the count began
  std::int64_t most = 0;                   ///< of that, at any time
  std::int64_t blocks = 0, in_blocks = 0;  ///< of `now`: pieces of large_block or more, their bytes
};

/// Begins to count from 0, the memory of all threads. Not while other threads run.
void begin_memory_count() noexcept;
/// Any thread.
[[nodiscard]] memory_count count_memory() noexcept;

/// While there is one on a thread, what that thread takes and gives back does not count. What is
/// taken under one is to be given back under one.
class uncounted_memory {
 public:
  uncounted_memory() noexcept;
  ~uncounted_memory();
  uncounted_memory(const uncounted_memory&) = delete;
  uncounted_memory& operator=(const uncounted_memory&) = delete;
};

}  // namespace heddle::tools
