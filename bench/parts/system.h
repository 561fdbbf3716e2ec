// SPDX-License-Identifier: BSD-3-Clause
// system.h - the few owners and checks of system resources that the bare limits need.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

namespace heddle::bare {

/// The value, or std::system_error saying what was tried when it is negative.
template <class T>
T checked(T result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// Closes a descriptor at the end of its scope.
class unique_fd {
 public:
  unique_fd() = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~unique_fd() { reset(); }
  [[nodiscard]] int get() const noexcept { return fd_; }
  void reset() noexcept {
    if (const int fd = std::exchange(fd_, -1); fd >= 0) ::close(fd);
  }

 private:
  int fd_ = -1;
};

/// A memfd mapped shared, every page already there: what a peer's exposed memory is. The file stays
/// open, by which software devices reach it.
class shared_mapping {
 public:
  explicit shared_mapping(std::size_t bytes)
      : shared_mapping(unique_fd(checked(memfd_create("heddle-bare", MFD_CLOEXEC), "memfd_create")),
                       bytes) {}
  /// The same file in several processes.
  shared_mapping(unique_fd file, std::size_t bytes) : file_(std::move(file)), bytes_(bytes) {
    checked(ftruncate(file_.get(), static_cast<off_t>(bytes)), "size the shared mapping");
    memory_ =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_.get(), 0);
    if (memory_ == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), "map the shared mapping");
    }
  }
  ~shared_mapping() { munmap(memory_, bytes_); }
  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(memory_); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  unique_fd file_;
  void* memory_ = nullptr;
  std::size_t bytes_;
};

}  // namespace heddle::bare
