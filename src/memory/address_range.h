// SPDX-License-Identifier: BSD-3-Clause
// address_range.h - addresses from one to another, as numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::memory {

struct address_range {
  std::uintptr_t from = 0, to = 0;

  [[nodiscard]] std::size_t bytes() const noexcept { return to - from; }
  [[nodiscard]] std::span<std::byte> memory() const noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): rounded to pages as a number
    return {reinterpret_cast<std::byte*>(from), bytes()};
  }
  [[nodiscard]] bool covers(std::uintptr_t at, std::size_t count) const noexcept {
    return at >= from && at <= to && count <= to - at;
  }
  [[nodiscard]] bool overlaps(address_range other) const noexcept {
    return from < other.to && other.from < to;
  }
  /// Grown to begin and end where pages do.
  [[nodiscard]] address_range whole_pages(std::size_t page_bytes) const noexcept {
    return {from & ~(page_bytes - 1), (to + page_bytes - 1) & ~(page_bytes - 1)};
  }
  friend bool operator==(const address_range&, const address_range&) = default;
};

}  // namespace heddle::memory
