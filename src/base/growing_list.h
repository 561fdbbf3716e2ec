// SPDX-License-Identifier: BSD-3-Clause
// growing_list.h - values that are added one by one and dropped all at once, without an allocation
// once there were as many as ever come.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace heddle {

/// As std::vector, but add() is a few stores: there is always a place for the next value, and who
/// takes the last one makes more.
template <class T>
class growing_list {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  growing_list() { grow(); }
  /// Within who calls it, so that the value is made where it lies: one that is copied as a whole
  /// has to wait for its parts, which were only just stored.
  [[gnu::always_inline]] void add(const T& value) {
    *next_++ = value;
    if (next_ == end_) [[unlikely]]
      grow();
  }
  /// Of those added; not when empty.
  [[nodiscard]] T& last() noexcept { return next_[-1]; }
  void clear() noexcept { next_ = first_.get(); }
  [[nodiscard]] bool empty() const noexcept { return next_ == first_.get(); }
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(next_ - first_.get());
  }
  [[nodiscard]] T* begin() noexcept { return first_.get(); }
  [[nodiscard]] T* end() noexcept { return next_; }
  [[nodiscard]] const T* begin() const noexcept { return first_.get(); }
  [[nodiscard]] const T* end() const noexcept { return next_; }

 private:
  static constexpr std::size_t at_first = 64;
  [[gnu::noinline, gnu::cold]] void grow() {
    const std::size_t used = size(), wanted = std::max(at_first, 2 * used);
    auto more = std::make_unique_for_overwrite<T[]>(wanted);
    std::copy_n(first_.get(), used, more.get());
    first_ = std::move(more);
    next_ = first_.get() + used;
    end_ = first_.get() + wanted;
  }

  std::unique_ptr<T[]> first_;
  T* next_ = nullptr;
  T* end_ = nullptr;  // of what is there
};

}  // namespace heddle
