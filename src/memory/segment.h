// segment.h - zeroed memory that other processes of the same user can map: a sealed memfd.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace heddle::memory {

/// Owns the descriptor and the mapping. Movable; unmaps and closes at its end.
class segment {
 public:
  segment() = default;
  /// `bytes` rounded up to pages, mode 0600, sealed against resizing. Throws error: no memory.
  segment(const std::string& name, std::size_t bytes);
  segment(segment&& other) noexcept;
  segment& operator=(segment&& other) noexcept;
  ~segment();

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_ = -1;
  std::span<std::byte> memory_;
};

}  // namespace heddle::memory
