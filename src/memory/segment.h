// SPDX-License-Identifier: BSD-3-Clause
// segment.h - zeroed memory of Heddle's own: a sealed memfd, which other processes of the same user
// can map, or where none does, memory for which the kernel has huge pages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heddle::memory {

/// What other processes can get of a segment.
enum class peers : std::uint8_t {
  none,      ///< nothing: it has no descriptor, and a fork's child gets a copy of it
  write,     ///< they can map it for reading and writing
  only_read  ///< the kernel lets nobody map it for writing any more (from Linux 5.1 on)
};

/// Owns the descriptor and the mapping, which can be written to in any case. Movable; unmaps and
/// closes at its end.
class segment {
 public:
  segment() = default;
  /// `bytes` rounded up to pages, and to huge ones (2 MiB) from where that at most doubles them;
  /// a memfd has mode 0600 and is sealed against resizing. Throws error: no descriptors, no address
  /// space. Pages come when they are touched first, huge ones where the kernel has them for what
  /// asks (MADV_HUGEPAGE); where memory is used up by then the OOM killer acts, or with
  /// vm.overcommit_memory=2 SIGBUS where it is a memfd (docs/design/shm.md).
  segment(const std::string& name, std::size_t bytes, peers may = peers::write);
  segment(segment&& other) noexcept;
  segment& operator=(segment&& other) noexcept;
  ~segment();

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }  ///< -1: it has none

 private:
  int fd_ = -1;
  std::span<std::byte> memory_;
};

}  // namespace heddle::memory
