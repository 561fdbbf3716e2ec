// SPDX-License-Identifier: BSD-3-Clause
// fifo.h - a queue that keeps its memory: it allocates only when it grows beyond what it ever held.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace tofu {

template <class T>
class fifo {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void push(const T& value) {
    if (size_ == ring_.size()) grow();
    ring_[(first_ + size_++) & (ring_.size() - 1)] = value;
  }
  T pop() noexcept {
    T& value = ring_[first_];
    first_ = (first_ + 1) & (ring_.size() - 1);
    --size_;
    return std::move(value);
  }
  [[nodiscard]] T& front() noexcept { return ring_[first_]; }

 private:
  void grow() {
    std::vector<T> larger(ring_.empty() ? 16 : ring_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) {
      larger[i] = std::move(ring_[(first_ + i) & (ring_.size() - 1)]);
    }
    ring_.swap(larger);
    first_ = 0;
  }

  std::vector<T> ring_;  // a power of two long
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace tofu
