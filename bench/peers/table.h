// table.h - where puts, gets and fetch-adds of a peer land: as in Heddle's own benchmark.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>

#include "peers/task.h"

namespace heddle::peers {

/// A table of 1 MiB, or larger when the messages are: slots of which each thread's flood hits its
/// part at random, or one per thread for latencies, a pair of cache lines apart.
struct table_layout {
  std::size_t stride = 0;  ///< bytes from one slot to the next
  std::size_t slots = 0;   ///< a power of two, at least one per thread
  std::size_t part = 0;    ///< of these for each thread, a power of two
  [[nodiscard]] std::size_t bytes() const noexcept { return stride * slots; }
  /// The first byte of a thread's part.
  [[nodiscard]] std::size_t part_of(int thread) const noexcept {
    return static_cast<std::size_t>(thread) * part * stride;
  }
};

[[nodiscard]] inline table_layout layout_for(const spec& s) {
  constexpr std::size_t table_bytes = 1 << 20;
  constexpr std::size_t line_bytes = 128;
  const auto bytes = static_cast<std::size_t>(s.bytes);
  table_layout l;
  l.stride = std::max(bytes, s.what == kind::latency ? line_bytes : sizeof(std::uint64_t));
  l.stride = (l.stride + 7) / 8 * 8;
  l.slots = std::max(std::bit_ceil(static_cast<std::size_t>(s.threads)),
                     std::bit_floor(table_bytes / l.stride | 1));
  l.part = std::bit_floor(l.slots / static_cast<std::size_t>(s.threads));
  return l;
}

}  // namespace heddle::peers
