// SPDX-License-Identifier: BSD-3-Clause
// list.h - a doubly linked list through hooks inside its elements: no allocation, O(1) removal.
#pragma once
#include <cstddef>

namespace heddle::protocols {

template <class T>
struct hook {
  T* before = nullptr;
  T* after = nullptr;
};

/// A list of T through its member `Hook`. An element is in at most one list per hook.
template <class T, hook<T> T::*Hook>
class list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] T* front() const noexcept { return first_; }
  [[nodiscard]] static T* next(const T& element) noexcept { return (element.*Hook).after; }

  void push_back(T& element) noexcept {
    (element.*Hook).before = last_;
    (element.*Hook).after = nullptr;
    (last_ != nullptr ? (last_->*Hook).after : first_) = &element;
    last_ = &element;
  }
  void push_front(T& element) noexcept {
    (element.*Hook).before = nullptr;
    (element.*Hook).after = first_;
    (first_ != nullptr ? (first_->*Hook).before : last_) = &element;
    first_ = &element;
  }
  void remove(T& element) noexcept {
    const hook<T> h = element.*Hook;
    (h.before != nullptr ? (h.before->*Hook).after : first_) = h.after;
    (h.after != nullptr ? (h.after->*Hook).before : last_) = h.before;
    element.*Hook = {};
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace heddle::protocols
