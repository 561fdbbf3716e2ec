// SPDX-License-Identifier: BSD-3-Clause
// descriptor_list.h - the descriptors on which a thread of the program sleeps, however many.
#pragma once
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::engine {

/// One per thread, reused: no allocation once warm.
class descriptor_list {
 public:
  /// The calling thread's.
  static descriptor_list& mine();

  void clear() noexcept { watched_.clear(); }
  /// -1 is none.
  void add(int fd) {
    if (fd >= 0) watched_.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  }
  [[nodiscard]] std::size_t size() const noexcept { return watched_.size(); }

  /// Until one of them is readable, or there is an interruption, which is as good as a wake. False:
  /// so much time has passed instead.
  [[nodiscard]] bool sleep(std::uint64_t longest_ns) noexcept;
  /// One of them is readable now.
  [[nodiscard]] bool any_readable() noexcept { return sleep(0); }

 private:
  std::vector<pollfd> watched_;
};

}  // namespace heddle::engine
