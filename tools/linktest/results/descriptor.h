// SPDX-License-Identifier: BSD-3-Clause
// descriptor.h - an open file that closes itself, and writing all of a text to it.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

namespace heddle::linktest {

/// A descriptor that closes itself.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// 0, or the errno of the close, which is where some file systems tell of a full disk.
  [[nodiscard]] int close() noexcept {
    return ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int fd_ = -1;
};

/// 0, or the errno of the write that failed. One write where the file system takes all at once.
[[nodiscard]] inline int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace heddle::linktest
