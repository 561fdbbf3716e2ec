// fifo.h - a queue that grows to what it once held and does not allocate after that.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::transport::tcp {

template <class T>
class fifo {
 public:
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] T& front() noexcept { return cells_[first_]; }
  void push(T value) {
    if (count_ == cells_.size()) grow();
    cells_[(first_ + count_++) & (cells_.size() - 1)] = std::move(value);
  }
  void pop() noexcept {
    front() = T{};
    first_ = (first_ + 1) & (cells_.size() - 1);
    --count_;
  }
  void clear() noexcept {
    while (!empty()) pop();
  }

 private:
  void grow() {
    std::vector<T> larger(cells_.empty() ? 8 : cells_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i)
      larger[i] = std::move(cells_[(first_ + i) & (cells_.size() - 1)]);
    cells_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> cells_;  // a power of two of them
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace heddle::transport::tcp
