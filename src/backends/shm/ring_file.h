// SPDX-License-Identifier: BSD-3-Clause
// ring_file.h - the memory of one ring: whose it is, its control words, its lines.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>

#include "backends/shm/os.h"
#include "backends/shm/segment.h"
#include "sync/shm_ring.h"

namespace heddle::transport::shm {

/// Which ring this is. The receiver takes no other one from that sender.
struct ring_name {
  rank from = 0;
  std::int32_t from_lane = 0;
  rank to = 0;
  std::int32_t to_lane = 0;
  token secret{};  ///< of the sender's segment

  friend bool operator==(const ring_name&, const ring_name&) = default;
};

/// Smallest and largest ring.
inline constexpr std::size_t min_ring_bytes = 4096;
inline constexpr std::size_t max_ring_bytes = std::size_t{1} << 30;

struct ring_file {
  owned_fd fd;
  mapping memory;
  sync::ring_place place;
};

/// `bytes` of lines: a power of two between the limits. Throws.
[[nodiscard]] ring_file create_ring(const ring_name& name, std::size_t bytes);
/// Throws error unless `fd` is a whole ring of that name.
[[nodiscard]] ring_file open_ring(owned_fd fd, const ring_name& name);

}  // namespace heddle::transport::shm
