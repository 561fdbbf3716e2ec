// SPDX-License-Identifier: BSD-3-Clause
// board.h - a short list in shared memory that many append to and one reads.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::sync {

/// Append-only; zero-filled memory is an empty board.
///
/// An entry is one word, so it is there or not: a process that dies while appending leaves no gap
/// and holds up nobody, which a queue with claimed cells could not promise.
template <std::size_t N>
class board {
 public:
  /// Any thread of any process. `entry` is not 0. False: full.
  [[nodiscard]] bool append(std::uint64_t entry) noexcept {
    for (auto& cell : cells_) {
      std::uint64_t empty = 0;
      // R1 pairs with A1 in at(). Relaxed on failure: the cell is somebody else's.
      if (cell.load(std::memory_order_relaxed) == 0 &&
          cell.compare_exchange_strong(empty, entry, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  /// The i-th entry, or 0 when there are not so many. i beyond the end: 0.
  [[nodiscard]] std::uint64_t at(std::size_t i) const noexcept {
    return i < N ? cells_[i].load(std::memory_order_acquire) : 0;  // A1 pairs with R1
  }

 private:
  std::array<std::atomic<std::uint64_t>, N> cells_;
};

}  // namespace heddle::sync
