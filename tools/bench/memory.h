// memory.h - the buffers of one benchmark on one rank, and the partner's that it may address.
#pragma once
#include <heddle/heddle.h>

#include <cstddef>
#include <span>
#include <vector>

#include "bench/station.h"

namespace heddle::bench {

/// Bytes that are plain memory or Heddle's own, and registered when peers shall address them.
class buffer {
 public:
  /// Throws heddle::error.
  buffer(world& job, std::size_t bytes, buffer_kind where, bool addressable);
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// Only when addressable.
  [[nodiscard]] const heddle::key& key() const noexcept { return region_.key(); }

 private:
  std::vector<std::byte> plain_;
  region region_;
  std::span<std::byte> bytes_;
};

/// Where things lie in every rank's table: slots that floods hit at random, then a line for each
/// thread with the word that ends its target's computing.
struct table_layout {
  std::size_t stride = 0;  ///< bytes from one slot to the next
  std::size_t slots = 0;   ///< a power of two, at least one per thread
  std::size_t part = 0;    ///< of these for each thread, a power of two
  [[nodiscard]] std::size_t control() const noexcept { return stride * slots; }
  /// The first byte of a thread's part.
  [[nodiscard]] std::size_t part_of(int thread) const noexcept {
    return static_cast<std::size_t>(thread) * part * stride;
  }

  /// A table of 1 MiB, or larger when the messages are.
  [[nodiscard]] static table_layout for_spec(const spec& s);
};

/// A word of its own pair of cache lines, so that neighbours are not fetched along with it.
inline constexpr std::size_t line_bytes = 128;

/// Collective between partners.
class equipment {
 public:
  /// Throws heddle::error.
  equipment(station& at, const spec& s);

  [[nodiscard]] const table_layout& layout() const noexcept { return layout_; }
  [[nodiscard]] std::byte* table() const noexcept { return table_.bytes().data(); }
  [[nodiscard]] const remote_region& their_table() const noexcept { return their_table_; }
  /// What thread `t` sends: spec's bytes.
  [[nodiscard]] std::span<std::byte> source(int t) const noexcept;
  /// Where thread `t` receives: spec's bytes for each slot of its window.
  [[nodiscard]] std::span<std::byte> landing(int t, std::size_t slot) const noexcept;

 private:
  std::size_t bytes_;
  std::size_t window_;
  table_layout layout_;
  buffer table_;
  buffer sources_;
  buffer landings_;
  remote_region their_table_;
};

}  // namespace heddle::bench
