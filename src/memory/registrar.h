// SPDX-License-Identifier: BSD-3-Clause
// registrar.h - what a backend supplies for its registrations to be kept.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::memory {

/// Makes memory usable by one device: a queue of a card, or a protection domain.
///
/// A cache calls it from one thread at a time, but from any: from whoever acquires or releases, and
/// from a thread of the monitor's. It may block, allocate, free and unmap, but not call the cache.
class registrar {
 public:
  enum class answer : std::uint8_t {
    done,
    full,     ///< no room: may succeed once something else was deregistered
    refused,  ///< not this memory: not mapped, not writable, too large
  };
  struct registered {
    answer code = answer::refused;
    std::uint64_t handle = 0;  ///< done: names the registration from now on
  };
  /// `pages`: whole pages. This cache has no other registration of exactly the same.
  virtual registered register_memory(std::span<std::byte> pages) noexcept = 0;
  /// The memory may have been unmapped meanwhile.
  virtual void deregister(std::uint64_t handle) noexcept = 0;

 protected:
  ~registrar() = default;
};

}  // namespace heddle::memory
