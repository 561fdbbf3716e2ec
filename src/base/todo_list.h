// SPDX-License-Identifier: BSD-3-Clause
// todo_list.h - things for which something is to be done, each once. Takes no memory: the links are
// in the things.
#pragma once
#include <utility>

namespace heddle {

template <class T>
struct todo_link {
  T* next = nullptr;
  bool listed = false;
};

/// Of those T whose member `Link` is free for it. Threads: one at a time.
template <class T, todo_link<T> T::*Link>
class todo_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void add(T& t) noexcept {
    if (std::exchange((t.*Link).listed, true)) return;
    (t.*Link).next = std::exchange(first_, &t);
  }
  /// Calls function(thing) for those that are in the list now; each has left it by then, and may be
  /// added again.
  template <class F>
  void take_all(F function) noexcept {
    T* at = std::exchange(first_, nullptr);
    while (at != nullptr) {
      T& each = *at;
      at = std::exchange(each.*Link, {}).next;
      function(each);
    }
  }

 private:
  T* first_ = nullptr;
};

}  // namespace heddle
