// SPDX-License-Identifier: BSD-3-Clause
// segment.h - the memory in which a process meets its peers: who it is, its lanes, its regions.
//
// One per process and device, created by it, mapped by all peers for reading and writing. A reader
// believes nothing here without a check; sizes and positions come from this file, never from it.
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "memory/region_table.h"
#include "sync/board.h"
#include "sync/cache_line.h"
#include "sync/relaxed.h"
#include "sync/release_acquire.h"
#include "sync/sequential.h"
#include "sync/shared_region.h"
#include "sync/sleep_word.h"

namespace heddle::transport::shm {

inline constexpr std::uint64_t segment_magic = 0x344d'4853'4c44'4548;  // "HEDLSHM4"
using token = std::array<std::byte, 16>;

/// Descriptor numbers in shared memory are stored plus one: zero-filled memory names none.
class shared_fd {
 public:
  void set(int fd) noexcept { stored_.set(fd + 1); }
  [[nodiscard]] int get() const noexcept { return stored_.get() - 1; }

 private:
  sync::release_acquire<std::int32_t> stored_;
};

/// Who has made a ring, and the number of its descriptor there.
struct announced_ring {
  rank from = 0;
  int lane = 0;
  int fd = 0;
};
inline constexpr int lane_bits = 8, fd_bits = 24;
static_assert(max_lanes <= 1 << lane_bits);
/// Never 0. The descriptor is below 2^24, of which no process has that many.
[[nodiscard]] constexpr std::uint64_t packed(const announced_ring& r) noexcept {
  return (static_cast<std::uint64_t>(r.from) + 1) << 32 |
         static_cast<std::uint64_t>(r.lane) << fd_bits | static_cast<std::uint64_t>(r.fd);
}
[[nodiscard]] constexpr announced_ring unpacked(std::uint64_t word) noexcept {
  return {static_cast<rank>(static_cast<std::int64_t>(word >> 32) - 1),
          static_cast<int>(word >> fd_bits & ((1u << lane_bits) - 1)),
          static_cast<int>(word & ((1u << fd_bits) - 1))};
}

inline constexpr std::size_t lane_slot_bytes = 32 * 1024;
/// As many words as the slot has left: its first line is another's, the first word behind it the
/// bell's.
inline constexpr std::size_t most_senders =
    (lane_slot_bytes - sync::cache_line) / sizeof(std::uint64_t) - 1;
struct lane_slot {
  alignas(sync::cache_line) sync::sleep_word asleep;  ///< read by every sender after every message
  /// On which the lane was last waited for, plus one; 0: nowhere.
  sync::relaxed<std::int32_t> core;
  alignas(sync::cache_line) shared_fd bell;  ///< write end of the pipe that wakes the lane
  /// Rings made for this lane by peers: announced_ring, packed.
  sync::board<most_senders> rings;
};
static_assert(sizeof(lane_slot) == lane_slot_bytes);

struct segment {
  // Constant once the address is known to peers.
  std::uint64_t magic;
  std::uint64_t bytes;
  std::int32_t rank;
  std::uint32_t can_fence;   ///< 1: enable_asymmetric() was true in this process
  token secret;              ///< as in the address: tells this segment from any other memory
  std::uint64_t start_time;  ///< of the process: tells it from a later one with its number
  std::uint64_t at;          ///< in its address space: what process_vm_readv is tried on
  std::int32_t life_line;    ///< its descriptor; the process has the only one that can write

  alignas(sync::cache_line)
      sync::release_acquire<std::uint32_t> closed;  ///< 1: the device is gone, or about to be
  sync::release_acquire<std::uint32_t> lanes_used;  ///< highest lane number so far + 1
  shared_fd bell;  ///< rung when a ring was announced to a lane that does not exist yet
  /// As the bell, until somebody has looked at the boards: 1 MiB of pages.
  sync::sequential_flag unserved;

  /// The first begins in the page of what is before it: most peers touch nothing else of a segment,
  /// and each page, and each 2 MiB that have any, cost as much as all the rest of opening it.
  std::array<lane_slot, max_lanes> lanes;
  alignas(4096) std::array<sync::shared_region, memory::region_table::slots> regions;
};
static_assert(std::is_standard_layout_v<segment>);
static_assert(offsetof(segment, lanes) + offsetof(lane_slot, rings) < 4096);

/// What the kernel asks for before it lets a process open another one's descriptors and memory. Of
/// processes with equal credentials all can be reached, or none.
struct credentials {
  std::uint32_t pid_namespace = 0;  ///< 0: unknown, as for the next one
  std::uint32_t user_namespace = 0;
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::uint32_t dumpable = 0;

  friend bool operator==(const credentials&, const credentials&) = default;
};

/// What address() gives and add_peer() takes.
struct address_blob {
  std::uint64_t magic = segment_magic;
  std::uint64_t bytes = sizeof(segment);
  std::int32_t rank = 0;
  std::int32_t pid = 0;
  std::int32_t segment_fd = -1;
  credentials owner;
  token secret{};
};
static_assert(sizeof(address_blob) == 64 && std::is_trivially_copyable_v<address_blob>);

}  // namespace heddle::transport::shm
