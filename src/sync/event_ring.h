// SPDX-License-Identifier: BSD-3-Clause
// event_ring.h - the newest records of one thread, which any thread may read meanwhile.
//
// The writer never waits: it overwrites the oldest. A reader leaves out what may have been
// overwritten while it read.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace heddle::sync {

class event_ring {
 public:
  static constexpr std::size_t words = 7;
  using record = std::array<std::uint64_t, words>;

  /// Keeps the newest `most` records, rounded up to a power of two. Throws bad_alloc.
  explicit event_ring(std::size_t most)
      : capacity_(std::bit_ceil(most)), cells_(std::make_unique<cell[]>(capacity_)) {}

  /// One thread at a time.
  [[gnu::always_inline]] void add(const record& r) noexcept {
    const std::uint64_t at = added_.load(std::memory_order_relaxed);  // only this thread changes it
    cell& c = cells_[at & (capacity_ - 1)];
    __builtin_prefetch(&cells_[(at + ahead) & (capacity_ - 1)], 1);
    // R1 pairs with A1: who sees one of these words sees that `at` records had been added.
#pragma GCC unroll 8
    for (std::size_t i = 0; i < words; ++i) c[i].store(r[i], std::memory_order_release);
    added_.store(at + 1, std::memory_order_release);  // R2 pairs with A2: with the record's words
  }
  /// How many ever were.
  [[nodiscard]] std::uint64_t added() const noexcept {
    return added_.load(std::memory_order_acquire);  // A2
  }
  /// Calls `f(record)` for those of number `from` and later that are left, oldest first. Returns
  /// how many were not.
  template <class F>
  std::uint64_t each(std::uint64_t from, F&& f) const {
    const std::uint64_t end = added();
    std::uint64_t lost = 0;
    if (end - from > capacity_) lost = end - from - capacity_;
    for (std::uint64_t at = from + lost; at != end; ++at) {
      record r;
      const cell& c = cells_[at & (capacity_ - 1)];
      for (std::size_t i = 0; i < words; ++i) r[i] = c[i].load(std::memory_order_acquire);  // A1
      // The record that takes this cell next is being written from then on.
      if (added() >= at + capacity_)
        ++lost;
      else
        f(r);
    }
    return lost;
  }

 private:
  /// A large ring does not fit into a cache near the core: so many records before its turn a cell
  /// is fetched.
  static constexpr std::uint64_t ahead = 8;
  using cell = std::array<std::atomic<std::uint64_t>, words>;
  const std::size_t capacity_;
  const std::unique_ptr<cell[]> cells_;
  std::atomic<std::uint64_t> added_{0};
};

}  // namespace heddle::sync
