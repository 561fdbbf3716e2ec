// SPDX-License-Identifier: BSD-3-Clause
// growing_array.h - things by number, up to a fixed number of them, that stay where they are and
// whose memory is not touched before they are made.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "sync/release_acquire.h"

namespace heddle::sync {

/// One thread at a time adds; any thread finds what has been added. T is destroyed by being
/// forgotten.
template <class T>
class growing_array {
 public:
  explicit growing_array(std::size_t capacity)
      : capacity_(capacity), memory_(std::allocator<T>().allocate(capacity)) {}
  ~growing_array() {
    static_assert(std::is_trivially_destructible_v<T>);
    std::allocator<T>().deallocate(memory_, capacity_);
  }
  growing_array(const growing_array&) = delete;
  growing_array& operator=(const growing_array&) = delete;

  /// Makes the next one. Not when it is full.
  T& add() noexcept {
    const std::size_t number = size();
    T& made = *new (memory_ + number) T;
    size_.set(number + 1);
    return made;
  }
  /// Null: there is none.
  [[nodiscard]] T* find(std::size_t number) const noexcept {
    return number < size() ? memory_ + number : nullptr;
  }
  /// The first; the others follow. There is one.
  [[nodiscard]] T* data() const noexcept { return memory_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_.get(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  const std::size_t capacity_;
  T* const memory_;
  release_acquire<std::size_t> size_;
};

}  // namespace heddle::sync
