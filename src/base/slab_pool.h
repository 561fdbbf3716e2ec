// SPDX-License-Identifier: BSD-3-Clause
// slab_pool.h - objects that are taken and given back all the time, stay where they are, and cost
// no allocation once there were as many as are needed.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace heddle {

/// T has a member `T* next_free`, which is the pool's while the object is not taken, and comes back
/// from give_back() as it was given. One thread at a time.
template <class T>
class slab_pool {
 public:
  [[nodiscard]] T& take() {
    if (free_ == nullptr) [[unlikely]]
      grow();
    ++in_use_;
    return *std::exchange(free_, free_->next_free);
  }
  void give_back(T& t) noexcept {
    t.next_free = std::exchange(free_, &t);
    --in_use_;
  }
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
  /// Those taken and those that wait for it.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Frees them all; none is taken.
  void clear() noexcept {
    slabs_.clear();
    free_ = nullptr;
    size_ = 0;
  }

 private:
  // Twice as many each time: a flood asks the heap, and that the system, a few times and not at
  // each page. A process that is short of memory gets as few as at first.
  static constexpr std::size_t at_first = 64, at_most = 1024;
  [[gnu::noinline, gnu::cold]] void grow() {
    std::size_t more = std::clamp(size_, at_first, at_most);
    std::unique_ptr<T[]> made(new (std::nothrow) T[more]());
    if (made == nullptr) made = std::make_unique<T[]>(more = at_first);
    T* const added = slabs_.emplace_back(std::move(made)).get();
    for (std::size_t i = more; i-- > 0;) added[i].next_free = std::exchange(free_, added + i);
    size_ += more;
  }

  std::vector<std::unique_ptr<T[]>> slabs_;
  T* free_ = nullptr;
  std::size_t in_use_ = 0;
  std::size_t size_ = 0;
};

}  // namespace heddle
