// SPDX-License-Identifier: BSD-3-Clause
// fifo.h - a queue that grows to what it once held and does not allocate after that.
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace heddle::transport::tcp {

template <class T>
class fifo {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - first_; }
  [[nodiscard]] T& front() noexcept { return cells_[first_ & (places_ - 1)]; }
  void push(const T& value) {
    if (size() == places_) [[unlikely]]
      grow();
    cells_[end_++ & (places_ - 1)] = value;
  }
  void pop() noexcept { ++first_; }
  void clear() noexcept { first_ = end_; }

 private:
  [[gnu::noinline]] void grow() {
    fifo larger;
    larger.places_ = places_ == 0 ? 8 : 2 * places_;
    larger.cells_ = std::make_unique<T[]>(larger.places_);
    for (; !empty(); pop()) larger.push(front());
    *this = std::move(larger);
  }

  std::unique_ptr<T[]> cells_;
  std::size_t places_ = 0;           // a power of two
  std::size_t first_ = 0, end_ = 0;  // counted on and on
};

}  // namespace heddle::transport::tcp
