// SPDX-License-Identifier: BSD-3-Clause
// region_table.h - this process's memory that peers may address, looked up by number.
//
// A region_ref names a slot and the slot's generation; a slot that was given to another region has
// another generation, so a stale key finds nothing. Whoever touches a region's memory for a peer
// pins it meanwhile, and remove() waits for the pins, which therefore last one copy or one system
// call at most.
//
// A large send looks for a lasting region, and adds and removes one of its own where there is none.
// None of this takes a lock, and lanes that have different homes share no cache line over it: each
// home gets back the slots that it had. Adding and removing lasting ones is rare, and has a mutex.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "sync/pin.h"

namespace heddle::memory {

/// Names a region of one rank. Travels in keys and messages.
struct region_ref {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  ///< 0: no region
  friend bool operator==(const region_ref&, const region_ref&) = default;
};

/// What a region's memory is.
struct backing {
  int memfd = -1;  ///< the sealed memfd whose first byte is memory's first byte; -1: no file's
  bool lasts =
      false;  ///< it is Heddle's own and ends with the region: while it is used, that stays
};

struct local_region {
  region_ref ref;
  std::span<std::byte> memory;
  rights allowed = rights::none;
  backing on = {};
};

class region_table {
 public:
  /// The first slots are for symmetric memory, whose refs are computed (see symmetric_ref).
  static constexpr std::uint32_t symmetric_slots = 1024;
  static constexpr std::uint32_t slots = 16 * 1024;

  region_table();
  ~region_table();

  /// The ref of the `sequence`-th symmetric array of the job, the same on all ranks.
  [[nodiscard]] static region_ref symmetric_ref(std::uint64_t sequence) noexcept;
  /// The first from this one on whose place is free here. Nothing: none is.
  [[nodiscard]] std::optional<std::uint64_t> next_symmetric(std::uint64_t from) noexcept;

  /// Gives a slot of its own to `memory`. ref.generation == 0: the table is full. Threads with
  /// different homes do not meet.
  local_region add(std::span<std::byte> memory, rights allowed, backing on = {},
                   std::size_t home = 0) noexcept;
  /// The same at a computed ref; generation 0 when the slot is in use.
  local_region add_at(region_ref ref, std::span<std::byte> memory, rights allowed,
                      backing on) noexcept;
  /// Ends the region; returns when nobody has it pinned. A ref that names no region is ignored.
  void remove(region_ref ref) noexcept;

  /// A pinned range of a region. Keeps its memory from going away until destroyed.
  class pinned {
   public:
    pinned() = default;
    pinned(status code, std::byte* at, sync::pin pin) noexcept
        : code_(code), at_(at), pin_(std::move(pin)) {}
    [[nodiscard]] status code() const noexcept { return code_; }  ///< done: at() may be used
    [[nodiscard]] std::byte* at() const noexcept { return at_; }

   private:
    status code_ = status::withdrawn;
    std::byte* at_ = nullptr;
    sync::pin pin_;
  };
  /// `bytes` at `offset` of region `ref`, for use as `wanted` allows. Lock-free; any thread.
  /// code(): done, withdrawn, out_of_bounds, denied. Every argument may come from a hostile peer.
  [[nodiscard]] pinned look_up(region_ref ref, std::uint64_t offset, std::uint64_t bytes,
                               rights wanted) noexcept;

  /// The lasting region containing all of `memory`, or generation 0, which is possible, too, beside
  /// changes of what there is. For large sends. Lock-free; any thread.
  [[nodiscard]] local_region find_lasting(std::span<const std::byte> memory) noexcept;

 private:
  struct parts;
  const std::unique_ptr<parts> parts_;
};

}  // namespace heddle::memory
