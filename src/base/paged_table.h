// SPDX-License-Identifier: BSD-3-Clause
// paged_table.h - values by number, of which few exist: of a job's many ranks a process talks to
// some.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace heddle {

/// Owns a T for some numbers. Any other below the largest costs 1/32 byte; to find one takes two
/// loads. One thread at a time.
template <class T>
class paged_table {
 public:
  /// Null: there is none.
  [[nodiscard]] T* find(std::size_t number) const noexcept {
    const std::size_t at = number / page_size;
    if (at >= count_ || pages_[at] == nullptr) [[unlikely]]
      return nullptr;
    return (*pages_[at])[number % page_size].get();
  }
  /// Puts one where there was none. Throws std::bad_alloc, and nothing has changed.
  T& insert(std::size_t number, std::unique_ptr<T> value) {
    const std::size_t at = number / page_size;
    if (at >= count_) grow(at + 1);
    auto& page = pages_[at];
    if (page == nullptr) page = std::make_unique<page_t>();
    auto& place = (*page)[number % page_size];
    place = std::move(value);
    return *place;
  }
  /// Drops all there are.
  void clear() noexcept {
    pages_.reset();
    count_ = 0;
  }

 private:
  static constexpr std::size_t page_size = 256;
  using page_t = std::array<std::unique_ptr<T>, page_size>;
  void grow(std::size_t count) {
    auto more = std::make_unique<std::unique_ptr<page_t>[]>(count);
    std::move(pages_.get(), pages_.get() + count_, more.get());
    pages_ = std::move(more);
    count_ = count;
  }

  std::unique_ptr<std::unique_ptr<page_t>[]> pages_;
  std::size_t count_ = 0;  // a vector would compute it at each find()
};

}  // namespace heddle
