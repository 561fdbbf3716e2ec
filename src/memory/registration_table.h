// SPDX-License-Identifier: BSD-3-Clause
// registration_table.h - what is registered with one device, and what has to go to make room.
//
// Any thread searches it, beside the one that changes it. When it, or the device, is full, what was
// not used for longest is undone, unless somebody is inside.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/address_range.h"
#include "memory/registrar.h"
#include "sync/cache_line.h"
#include "sync/counters.h"
#include "sync/growing_array.h"
#include "sync/interval_index.h"
#include "sync/lease_word.h"
#include "sync/relaxed.h"
#include "sync/release_acquire.h"
#include "sync/sequential.h"

namespace heddle::memory {

class registration_cache;

/// What a cache may keep. Leases may need more bytes than these, but never more entries.
struct cache_limits {
  std::size_t page_bytes = 64 * 1024;  ///< of the device; a power of two, at least the system's
  std::size_t entries = 1024;          ///< registrations at one time; 1 to 16384
  std::size_t bytes = 0;               ///< registered at one time; 0: no limit
};

/// Sums since the cache was made. Exact when nobody is at work.
struct cache_counters {
  std::uint64_t hits = 0;           ///< leases on a registration that was there
  std::uint64_t misses = 0;         ///< registrations made
  std::uint64_t evictions = 0;      ///< of these, undone to make room
  std::uint64_t invalidations = 0;  ///< of these, ended because their memory changed
  std::uint64_t refused = 0;        ///< calls of acquire() that got no lease
};

/// A place in the table, for one registration after another.
struct alignas(sync::cache_line) registration {
  [[nodiscard]] address_range pages() const noexcept {
    const std::uintptr_t begin = from.get();
    return {begin, begin + bytes.get()};
  }

  sync::lease_word<> word;
  // Change while nobody is inside and nobody can come in. `handle` is for those inside; the
  // others are looked at from outside, by whoever searches or tells of a change.
  std::uint64_t handle = 0;
  sync::relaxed<std::uintptr_t> from;
  sync::relaxed<std::size_t> bytes;
  // Differs from every other one's and every earlier one's, and is set last: who finds the same
  // before and after looking at the others has seen those of that life.
  sync::release_acquire<std::uint64_t> life;
  registration_cache* owner = nullptr;  // constant
  // For the thread that changes the table.
  std::uint64_t last_use = 0;     // in lives, as evict_one() found it
  std::uint64_t uses_before = 0;  // times entered when it found that
  enum class state_t : std::uint8_t { free, listed, unlisted } state = state_t::free;
};

class registration_table {
 public:
  /// `owner` may be null: then nobody holds a lease. Throws error: bad limits, no memory.
  registration_table(registrar& device, const cache_limits& limits, registration_cache* owner);

  // --- any thread ------------------------------------------------------------------------
  /// What is listed and begins last at `at` or before; anything when there is none, or beside a
  /// change of the table.
  [[nodiscard]] registration& candidate(std::uintptr_t at) const noexcept {
    return index_.find(at);
  }
  /// All there are, and some that are free.
  [[nodiscard]] std::span<registration> used() const noexcept;
  /// Hits, misses and evictions.
  [[nodiscard]] cache_counters counters() const noexcept;

  // --- one thread at a time --------------------------------------------------------------
  /// Two registrations of the same pages could be one to the device, and undone as one.
  [[nodiscard]] bool has(address_range pages) const noexcept;
  /// Grown to cover what overlaps it, unless that would more than double it: so entries merge, and
  /// a walk in steps over a large buffer still registers each page at most twice.
  [[nodiscard]] address_range with_neighbours(address_range pages) const noexcept;
  /// For one more. False: every entry is leased. More bytes than allowed are possible, then.
  [[nodiscard]] bool make_room(std::size_t bytes) noexcept;
  struct added {
    registrar::answer code = registrar::answer::refused;
    registration* where = nullptr;  ///< done: unlisted, and its word cleared_away()
  };
  /// After make_room(). `full`: the device is, of what is leased.
  added add(address_range pages) noexcept;
  /// To be found from now on, in place of whatever it covers: so the entry that begins last before
  /// a place also ends last.
  void list(registration& e) noexcept;
  void unlist(registration& e) noexcept;
  /// Undoes it. It is cleared_away(): open to nobody, and used by nobody.
  void clear(registration& e) noexcept;

 private:
  registration& fill(address_range pages, std::uint64_t handle) noexcept;
  registration& make_next() noexcept;
  bool evict_one() noexcept;

  // Constant after construction.
  registrar& device_;
  const std::size_t most_bytes_;  // 0: no limit
  registration_cache* const owner_;

  sync::growing_array<registration> entries_;

  sync::interval_index<registration> index_;  // of open entries, and some ended
  sync::sequential_count used_;               // entries beyond have never been used
  sync::owned_counter misses_, evictions_;

  // For the thread that changes the table.
  std::vector<registration*> free_;  // of those made
  std::size_t registered_bytes_ = 0;
  std::uint64_t last_life_ = 0;
};

}  // namespace heddle::memory
