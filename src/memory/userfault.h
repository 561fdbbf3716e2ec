// SPDX-License-Identifier: BSD-3-Clause
// userfault.h - news of unmapped, moved and emptied memory from the kernel: userfaultfd(2).
//
// Memory is registered for write protection, and nothing is ever protected: no page fault is held
// up by it, only changes of mappings are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/fd.h"

namespace heddle::memory {

struct changed_range {
  std::uintptr_t from = 0, to = 0;
};

class userfault {
 public:
  userfault() = default;
  /// Without one, is_open() is false and `why_not` says in words why.
  static userfault open(std::string& why_not);
  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(fd_); }

  /// The kernel will tell of changes of [from, to), whole pages. False: it cannot for some of it.
  /// Any thread.
  [[nodiscard]] bool watch(std::uintptr_t from, std::uintptr_t to) const noexcept;
  /// The kernel will not tell of changes of [from, to) any more, if it can be that short.
  void unwatch(std::uintptr_t from, std::uintptr_t to) const noexcept;

  /// Sleeps until there is news. One thread, which changes no watched mapping itself.
  void wait() const noexcept;
  /// Takes news, and lets the threads go on that brought them. How many; -1: never again.
  [[nodiscard]] int take(std::span<changed_range, 16> news) const noexcept;

 private:
  explicit userfault(unique_fd fd) noexcept : fd_(std::move(fd)) {}
  unique_fd fd_;
};

}  // namespace heddle::memory
