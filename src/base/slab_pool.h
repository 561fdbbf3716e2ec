// SPDX-License-Identifier: BSD-3-Clause
// slab_pool.h - objects that are taken and given back all the time, stay where they are, and cost
// no allocation once there were as many as are needed.
#pragma once
#include <cstddef>
#include <memory>
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
  /// It is not taken any more, nor will it be again: somebody may still know its address.
  void retire(T&) noexcept { --in_use_; }
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
  /// For all there are, also those not taken.
  template <class F>
  void each(F function) {
    for (const auto& slab : slabs_)
      for (std::size_t i = 0; i < at_a_time; ++i) function(slab[i]);
  }

 private:
  static constexpr std::size_t at_a_time = 64;
  void grow() {
    T* const more = slabs_.emplace_back(std::make_unique<T[]>(at_a_time)).get();
    for (std::size_t i = at_a_time; i-- > 0;) more[i].next_free = std::exchange(free_, more + i);
  }

  std::vector<std::unique_ptr<T[]>> slabs_;
  T* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace heddle
