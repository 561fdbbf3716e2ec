// SPDX-License-Identifier: BSD-3-Clause
// os.h - descriptors, mappings and processes, as far as the device needs them.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace host {

/// Closes its descriptor.
class owned_fd {
 public:
  owned_fd() = default;
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~owned_fd();
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Unmaps its memory.
class mapping {
 public:
  mapping() = default;
  /// The first `bytes` of `fd`, shared; empty when the kernel refuses.
  mapping(int fd, std::size_t bytes, bool writable = true) noexcept;
  mapping(mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  mapping& operator=(mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~mapping();
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] explicit operator bool() const noexcept { return data_ != nullptr; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Which file a mapping or a descriptor is of.
struct file_identity {
  std::uint64_t device = 0, inode = 0;
  bool operator==(const file_identity&) const = default;
  bool operator<(const file_identity& other) const noexcept {
    return std::tie(device, inode) < std::tie(other.device, other.inode);
  }
};

/// Anonymous memory of `bytes` zero bytes that cannot change its size. Empty: no descriptors left.
[[nodiscard]] owned_fd make_sealed_memory(const char* name, std::size_t bytes) noexcept;
/// Whether `fd` is such memory, ours, and exactly that long.
[[nodiscard]] bool is_sealed_memory(int fd, std::size_t bytes) noexcept;

/// Our own descriptor of what is number `fd` in process `pid`. Empty: there is none, or it is not
/// an ordinary file.
[[nodiscard]] owned_fd open_of_process(pid_t pid, int fd, bool writable) noexcept;

/// Identity and size of a descriptor's file. False: none.
[[nodiscard]] bool identify(int fd, file_identity& which, std::uint64_t& bytes) noexcept;

/// When the process started, in clock ticks since boot; 0: there is none, or it is a zombie.
[[nodiscard]] std::uint64_t start_time_of(pid_t pid) noexcept;

}  // namespace host
