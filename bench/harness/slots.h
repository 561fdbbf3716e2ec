// SPDX-License-Identifier: BSD-3-Clause
// slots.h - where things lie in the memory of a benchmark: the same for every library.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/spec.h"

namespace heddle::bench {

/// A word of its own pair of cache lines, so that neighbours are not fetched along with it.
inline constexpr std::size_t line_bytes = 128;

/// Every rank's table: slots that floods hit at random, one for each thread in latencies; behind
/// them a line for each thread, by which its partner tells it something.
struct table_layout {
  std::size_t stride = 0;  ///< bytes from one slot to the next
  std::size_t slots = 0;   ///< a power of two, at least one per thread
  std::size_t part = 0;    ///< of these for each thread, a power of two
  std::size_t threads = 1;

  /// The slot of a thread that needs only one.
  [[nodiscard]] std::size_t slot_of(int thread) const noexcept {
    return static_cast<std::size_t>(thread) * stride;
  }
  /// The first byte of a thread's part.
  [[nodiscard]] std::size_t part_of(int thread) const noexcept {
    return static_cast<std::size_t>(thread) * part * stride;
  }
  [[nodiscard]] std::size_t line_of(int thread) const noexcept {
    return stride * slots + static_cast<std::size_t>(thread) * line_bytes;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return stride * slots + threads * line_bytes; }

  [[nodiscard]] static table_layout for_spec(const spec& s) {
    const auto bytes = static_cast<std::size_t>(s.bytes);
    table_layout l;
    l.threads = static_cast<std::size_t>(s.threads);
    l.stride = std::max(bytes, s.what == kind::latency || s.what == kind::overhead
                                   ? line_bytes
                                   : sizeof(std::uint64_t));
    l.stride = (l.stride + 7) / 8 * 8;
    l.slots = std::max(std::bit_ceil(l.threads), std::bit_floor(s.table_bytes / l.stride | 1));
    l.part = std::bit_floor(l.slots / l.threads);
    return l;
  }
};

/// Zeroed bytes that begin at a page, because copies of unaligned memory are slower; every page is
/// there before timing. Has an address even when empty.
class page_buffer {
 public:
  explicit page_buffer(std::size_t bytes) : room_(bytes + page_bytes) {
    void* at = room_.data();
    std::size_t room = room_.size();
    data_ = static_cast<std::byte*>(std::align(page_bytes, bytes, at, room));
  }
  page_buffer(const page_buffer&) = delete;
  page_buffer& operator=(const page_buffer&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  static constexpr std::size_t page_bytes = 4096;
  std::vector<std::byte> room_;
  std::byte* data_ = nullptr;
};

}  // namespace heddle::bench
