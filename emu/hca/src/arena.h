// SPDX-License-Identifier: BSD-3-Clause
// arena.h - memory of this process that its peers map: what they have to read and write to deliver
// to it. Sparse: only what is used has memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "host/os.h"

namespace hca {

class arena {
 public:
  /// Empty where the system has no descriptors left.
  [[nodiscard]] static arena make();
  arena() = default;
  /// Moved only before anything was taken.
  arena(host::owned_fd fd, host::mapping map) noexcept;
  arena(arena&& other) noexcept
      : fd_(std::move(other.fd_)), map_(std::move(other.map_)), end_(other.end_) {}
  arena& operator=(arena&& other) noexcept {
    fd_ = std::move(other.fd_);
    map_ = std::move(other.map_);
    end_ = other.end_;
    return *this;
  }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(map_); }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::byte* data() const noexcept { return map_.data(); }

  /// Zeroed memory, aligned to 64 bytes. 0: there is none left.
  [[nodiscard]] std::uint64_t take(std::size_t bytes);
  void give_back(std::uint64_t at, std::size_t bytes) noexcept;

  template <class T>
  [[nodiscard]] T& at(std::uint64_t offset) const noexcept {
    return *reinterpret_cast<T*>(map_.data() + offset);
  }

 private:
  std::uint64_t find(unsigned size_class) noexcept;

  host::owned_fd fd_;
  host::mapping map_;
  std::mutex mutex_;  // guards all below
  std::uint64_t end_ = 0;
  std::array<std::vector<std::uint64_t>, 40> free_;  // by the logarithm of their size
};

}  // namespace hca
