// SPDX-License-Identifier: BSD-3-Clause
// segment.h - zeroed memory that other processes of the same user can map: a sealed memfd.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace heddle::memory {

/// What other processes can get of a segment.
enum class peers : bool {
  write,     ///< they can map it for reading and writing
  only_read  ///< the kernel lets nobody map it for writing any more (from Linux 5.1 on)
};

/// Owns the descriptor and the mapping, which can be written to in any case. Movable; unmaps and
/// closes at its end.
class segment {
 public:
  segment() = default;
  /// `bytes` rounded up to pages, mode 0600, sealed against resizing. Throws error: no descriptors,
  /// no address space. Pages come when they are touched first; where memory is used up by then the
  /// OOM killer acts, or SIGBUS with vm.overcommit_memory=2 (docs/design/shm.md).
  segment(const std::string& name, std::size_t bytes, peers may = peers::write);
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
