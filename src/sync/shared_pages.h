// SPDX-License-Identifier: BSD-3-Clause
// shared_pages.h - things by number for all threads, made a page at a time when one is first asked
// for, without a lock.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace heddle::sync {

/// T for numbers below `limit`. They stay where they are until the table ends. Who may touch which
/// is agreed elsewhere.
template <class T, std::size_t limit>
class shared_pages {
 public:
  shared_pages() = default;
  ~shared_pages() {
    // Relaxed: whoever ends it has heard of every page by what made it the last user.
    for (const auto& each : pages_) delete each.load(std::memory_order_relaxed);
  }
  shared_pages(const shared_pages&) = delete;
  shared_pages& operator=(const shared_pages&) = delete;

  /// Null: there is none of that number, or none was ever made near it.
  [[nodiscard]] T* find(std::size_t number) const noexcept {
    if (number >= limit) return nullptr;
    // A1 pairs with R1 in make(): the page is seen as it was made.
    page* const there = pages_[number / page_size].load(std::memory_order_acquire);
    return there != nullptr ? &(*there)[number % page_size] : nullptr;
  }
  /// Null: out of memory. `number` is below the limit.
  [[nodiscard]] T* make(std::size_t number) noexcept {
    if (T* const there = find(number); there != nullptr) return there;
    std::unique_ptr<page> made(new (std::nothrow) page{});
    if (made == nullptr) return nullptr;
    page* before = nullptr;
    // R1 pairs with A1 in find(). Acquire, where another was first: A1 with its R1.
    if (pages_[number / page_size].compare_exchange_strong(
            before, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
      before = made.release();
    return &(*before)[number % page_size];
  }

 private:
  static constexpr std::size_t page_size = 64;
  using page = std::array<T, page_size>;
  std::array<std::atomic<page*>, (limit + page_size - 1) / page_size> pages_{};
};

}  // namespace heddle::sync
