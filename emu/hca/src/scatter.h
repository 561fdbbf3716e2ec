// SPDX-License-Identifier: BSD-3-Clause
// scatter.h - bytes from the pieces of one list of memory to those of another, in this process and
// in others.
#pragma once
#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "capacity.h"

namespace hca {

/// Pieces of memory one after the other. Up to two more than a work request has, for headers.
class pieces {
 public:
  void add(std::uint64_t address, std::uint64_t bytes) noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const iovec* data() const noexcept { return all_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The first `bytes` of them, or all.
  [[nodiscard]] pieces first(std::uint64_t bytes) const noexcept;
  /// All without the first `bytes`.
  [[nodiscard]] pieces after(std::uint64_t bytes) const noexcept;

 private:
  std::array<iovec, max_sge + 2> all_;
  std::size_t size_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Whose memory the far pieces are.
struct far_memory {
  pid_t pid;
  bool is_self;
};

/// As many bytes as both have, in ascending order. 0 or an errno.
[[nodiscard]] int write_far(const far_memory& whose, const pieces& far,
                            const pieces& here) noexcept;
[[nodiscard]] int read_far(const far_memory& whose, const pieces& far, const pieces& here) noexcept;

}  // namespace hca
