// SPDX-License-Identifier: BSD-3-Clause
// own_segment.h - this process's segment: where peers find it, and the regions exposed in it.
#pragma once
#include <cstddef>
#include <vector>

#include "backends/shm/os.h"
#include "backends/shm/peer_process.h"
#include "backends/shm/segment.h"
#include "memory/region_table.h"

namespace heddle::transport::shm {

/// Any thread.
class own_segment {
 public:
  /// Throws error: what this machine lacks.
  explicit own_segment(rank self);

  [[nodiscard]] segment& memory() const noexcept {
    return *reinterpret_cast<segment*>(mapping_.data());
  }
  [[nodiscard]] peer_address where() const noexcept;
  /// What peers are given to open it: where it is, and who is asked for it.
  [[nodiscard]] std::vector<std::byte> address(const credentials& mine) const;
  /// Readable when a peer has rung the device.
  [[nodiscard]] int bell() const noexcept { return bell_.read.get(); }

  void expose(const memory::local_region& region) noexcept;
  void withdraw(const memory::local_region& region) noexcept;

 private:
  owned_fd file_;
  mapping mapping_;
  bell_pipe bell_;
  owned_fd life_line_;
};

}  // namespace heddle::transport::shm
