// SPDX-License-Identifier: BSD-3-Clause
// waker.h - what a sleeping thread sleeps on, named by a number that never dangles.
#pragma once
#include <cstdint>

namespace heddle::sync {

/// This thread's waker: an eventfd, made on first use, handed on when the thread ends.
/// Others wake it by heddle::detail::wake(), which stays harmless when the thread has gone:
/// the number may then be another thread's, who wakes once for nothing.
class thread_waker {
 public:
  /// Of the calling thread. id() is 0 and fd() -1 when the system has no descriptor or number
  /// left; then sleep with a short time limit instead.
  static const thread_waker& mine();
  /// Threads that have one, and have not ended.
  [[nodiscard]] static int threads() noexcept;

  [[nodiscard]] std::uint16_t id() const noexcept { return id_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Forgets wakes that came so far.
  void clear() const noexcept;

  thread_waker();
  ~thread_waker();
  thread_waker(const thread_waker&) = delete;
  thread_waker& operator=(const thread_waker&) = delete;

 private:
  std::uint16_t id_ = 0;
  int fd_ = -1;
};

}  // namespace heddle::sync
