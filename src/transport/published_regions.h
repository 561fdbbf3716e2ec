// SPDX-License-Identifier: BSD-3-Clause
// published_regions.h - how a region's key gets to peers by their own reading: its owner keeps a
// table in memory that its network card lets peers read, with an entry for each slot, and who needs
// a region reads its entry once. Nothing is exchanged, and the owner has nothing to do for it.
//
// For devices that register memory. Each fills `address` and `note` with what its card needs.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "memory/region_table.h"

namespace heddle::transport {

/// A region as its owner publishes it. Valid when the generation is the one asked for and the check
/// sum is right; a wrong sum means that it was being written: read again.
struct region_entry {
  std::uint32_t generation = 0;
  std::uint32_t allowed = 0;  ///< rights
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< of the first byte, as the card has it; 0: not registered
  std::uint32_t note = 0;     ///< the device's: what else it takes to reach it
  std::uint32_t check = 0;
};
static_assert(sizeof(region_entry) == 32);

[[nodiscard]] inline std::uint32_t check_sum(const region_entry& e) noexcept {
  std::uint64_t sum = 0x9e37'79b9'7f4a'7c15u;
  for (const std::uint64_t part :
       {std::uint64_t{e.generation} << 32 | e.allowed, e.bytes, e.address, std::uint64_t{e.note}}) {
    sum = (sum ^ part) * 0xff51'afd7'ed55'8ccdu;
    sum ^= sum >> 32;
  }
  return static_cast<std::uint32_t>(sum) | 1;  // an entry that was never used has none
}

inline constexpr std::size_t region_table_bytes =
    memory::region_table::slots * sizeof(region_entry);

/// Writes the entry of a region into the owner's table of region_table_bytes.
inline void publish(std::span<std::byte> table, memory::region_ref ref, region_entry e) noexcept {
  e.check = check_sum(e);
  std::memcpy(table.data() + ref.slot * sizeof e, &e, sizeof e);
}

/// A region of a peer. A device derives its own from it, with how it is reached.
struct known_region {
  memory::region_ref ref;
  enum class state_t : std::uint8_t {
    unknown,
    fetching,
    absent,  ///< it was looked for, and not there
    known
  } state = state_t::unknown;
};

/// The regions of one peer, as one lane knows them. Threads: one at a time.
template <class Region>
class known_regions {
 public:
  /// One of those used last; nullptr: look_up() may know it.
  [[nodiscard]] Region* find_recent(const memory::region_ref& ref) const noexcept {
    Region* const r = recent_[ref.slot % recent_.size()];
    // One comparison of 8 bytes.
    const auto word = [](const memory::region_ref& of) { return std::bit_cast<std::uint64_t>(of); };
    return r != nullptr && word(r->ref) == word(ref) ? r : nullptr;
  }
  /// done: `out` is it. busy_queue: it is being fetched, ask again. withdrawn: it is not there.
  /// `learn(region)` is called for an unknown one: begins to fetch it and answers busy_queue, or
  /// makes it known. Throws std::bad_alloc.
  template <class Learn>
  [[nodiscard]] status look_up(memory::region_ref ref, Region*& out, const Learn& learn) {
    if (ref.slot >= memory::region_table::slots || ref.generation == 0) return status::withdrawn;
    Region& r = by_slot_[ref.slot];
    if (r.state == state_t::fetching) return status::busy_queue;
    if (r.ref != ref) {
      std::ranges::replace(recent_, &r, static_cast<Region*>(nullptr));
      r = {};
      r.ref = ref;
    }
    if (r.state == state_t::unknown)
      if (const status s = learn(r); s != status::done) return s;
    if (r.state == state_t::absent) {
      r.state = state_t::unknown;
      return status::withdrawn;
    }
    out = &r;
    if (r.state == state_t::known) recent_[ref.slot % recent_.size()] = &r;
    return status::done;
  }

  [[nodiscard]] bool empty() const noexcept { return by_slot_.empty(); }
  /// One entry at a time is read.
  [[nodiscard]] bool may_fetch() const noexcept { return fetching_ == nullptr; }
  void begin_fetch(Region& r) noexcept {
    fetching_ = &r;
    r.state = state_t::fetching;
  }
  /// The entry has come. Returns its region, if it is there: to be filled from the entry, and known
  /// then. `read` is nullptr where the reading failed.
  [[nodiscard]] Region* end_fetch(const std::byte* read, region_entry& e) noexcept {
    Region& r = *std::exchange(fetching_, nullptr);
    r.state = state_t::unknown;
    if (read == nullptr) return nullptr;
    std::memcpy(&e, read, sizeof e);
    const bool never_used = e.generation == 0 && e.check == 0;
    if (!never_used && e.check != check_sum(e)) return nullptr;  // it was being written: again
    r.state = state_t::absent;
    return e.generation == r.ref.generation ? &r : nullptr;
  }
  /// One that `is_fetched` was not where it had been: none of these counts any more.
  template <class Predicate>
  void distrust(const Predicate& is_fetched) noexcept {
    for (auto& [slot, r] : by_slot_)
      if (r.state == state_t::known && is_fetched(r)) r.state = state_t::unknown;
    recent_ = {};
  }

 private:
  using state_t = known_region::state_t;
  std::array<Region*, 4> recent_{};                    // known ones
  std::unordered_map<std::uint32_t, Region> by_slot_;  // places stay
  Region* fetching_ = nullptr;                         // whose entry is under way
};

}  // namespace heddle::transport
