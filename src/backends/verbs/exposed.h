// SPDX-License-Identifier: BSD-3-Clause
// exposed.h - this process's memory as its card knows it: registrations, and the table that tells
// peers of them. Peers read an entry with one read on first use, so nothing is exchanged for a
// region, and its owner has nothing to do.
//
// What peers may write to is registered for itself, and its key dies with it. What they may only
// read is leased from a cache of registrations for reading: large messages expose memory all the
// time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/verbs/card.h"
#include "backends/verbs/facts.h"
#include "memory/registration_cache.h"
#include "memory/segment.h"
#include "sync/counters.h"
#include "sync/shared_pages.h"
#include "transport/device.h"
#include "transport/published_regions.h"

namespace heddle::transport::verbs {

/// What the registrar of a lease on a registration has made, with the card's keys.
[[nodiscard]] inline const ibv_mr& registration_of(
    const memory::registration_cache::lease& l) noexcept {
  return *reinterpret_cast<const ibv_mr*>(l.handle());  // NOLINT: the registrar's
}

class exposed_regions {
 public:
  /// Throws error: what cannot be registered.
  exposed_regions(const card& on, const settings& config);
  ~exposed_regions();

  // Each region by who has its slot; several slots at once.
  void add(const memory::local_region& region) noexcept;
  /// True: its memory stays registered, and whoever has its address can read there.
  bool remove(memory::region_ref ref) noexcept;
  /// And it is no longer registered, unless another region in its memory needs that.
  void revoke(const memory::local_region& region) noexcept;

  /// Registrations for this process's own operations.
  [[nodiscard]] memory::registration_cache& cache() noexcept { return own_cache_; }
  /// Regions so far that could not be registered: peers reach them by messages.
  [[nodiscard]] std::uint64_t refused() const noexcept;
  [[nodiscard]] std::uint64_t table() const noexcept;
  /// As peers read it in the table; generation 0: the region is not there. Of one that stays
  /// exposed meanwhile.
  [[nodiscard]] region_entry entry_of(memory::region_ref ref) const noexcept;
  [[nodiscard]] std::uint32_t table_key() const noexcept { return table_registered_->rkey; }

 private:
  class registrar final : public memory::registrar {
   public:
    registrar(const card& on, int access) : card_(on), access_(access) {}
    registered register_memory(std::span<std::byte> pages) noexcept override;
    void deregister(std::uint64_t handle) noexcept override;

   private:
    const card& card_;
    const int access_;
  };
  /// What an exposed region holds.
  struct kept {
    std::uint32_t generation = 0;
    handle<ibv_mr> written;                  // peers may write to it
    memory::registration_cache::lease read;  // or only read
  };
  [[nodiscard]] bool register_region(const memory::local_region& region, kept& k,
                                     region_entry& e) noexcept;
  void note_refused(const memory::local_region& region) noexcept;

  const card& card_;
  registrar own_, lent_;
  memory::registration_cache own_cache_, lent_cache_;
  memory::segment table_memory_;
  handle<ibv_mr> table_registered_;

  // By slot: of who has the slot, so large sends of several lanes take no lock here.
  sync::shared_pages<kept, memory::region_table::slots> kept_;
  sync::shared_counter refused_;
};

}  // namespace heddle::transport::verbs
