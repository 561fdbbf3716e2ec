// SPDX-License-Identifier: BSD-3-Clause
// world_symmetric.h - symmetric memory: all ranks make some together, or expose what they have.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/world_assembly.h"
#include "engine/world_memory.h"

namespace heddle::engine {

/// One per world. Collective, and any thread. Throws error, on every rank that does: they do not
/// all ask for the same, one has no memory, or a rank is gone.
class world_symmetric {
 public:
  world_symmetric(world_memory& memory, world_assembly& all) noexcept
      : memory_(memory), all_(all) {}

  /// Returns this rank's part and the array's number.
  std::span<std::byte> add(std::uint64_t bytes, rights allowed, std::uint64_t& number);
  /// See world::expose_symmetric. Returns everybody's part, by rank.
  std::unique_ptr<const exposed_part[]> expose(std::span<std::byte> mine, rights allowed);

 private:
  std::span<std::byte> propose(std::uint64_t bytes, rights allowed, std::uint64_t& number);

  world_memory& memory_;
  world_assembly& all_;
  std::uint64_t next_ = 0;  // behind all numbers that were proposed; with a turn only
};

}  // namespace heddle::engine
