// SPDX-License-Identifier: BSD-3-Clause
// exposed.h - this process's memory as the hardware knows it: registrations, and the table that
// tells peers of them.
//
// Keys have one size whatever the number of lanes. The first symmetric arrays of a job are
// registered with the same reserved tag on every CQ, so peers compute the address for any lane and
// exchange nothing. Any other region is registered on one CQ, chosen by its slot so that they
// spread over the TNIs; peers fetch its entry of the table on first use.
//
// What peers may write to gets a reserved tag of its own and loses it on withdrawal: a cached
// registration would stay open. What they may only read is leased from a cache of registrations for
// reading, so that the hardware refuses to write there, whatever a peer believes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/utofu/shared_memory.h"
#include "backends/utofu/vcq.h"
#include "memory/registration_cache.h"
#include "memory/segment.h"
#include "sync/counters.h"
#include "sync/shared_pages.h"
#include "transport/device.h"
#include "transport/published_regions.h"

namespace heddle::transport::utofu {

/// Bounds and rights of a region, wherever it is.
struct region_facts {
  std::uint64_t bytes = 0;
  rights allowed = rights::none;
};

class exposed_regions {
 public:
  /// Throws error: what cannot be registered.
  exposed_regions(std::span<const std::unique_ptr<vcq>> vcqs, const settings& config);
  ~exposed_regions();

  // Each region by who has its slot; several slots at once.
  void add(const memory::local_region& region) noexcept;
  /// True: its memory stays registered, and whoever has its address can read there.
  bool remove(memory::region_ref ref) noexcept;
  /// And it is no longer registered, unless another region in its memory needs that.
  void revoke(const memory::local_region& region) noexcept;

  /// What this rank exposes under `ref`, which has a common tag: its peers' arrays are alike.
  [[nodiscard]] bool find_common(memory::region_ref ref, region_facts& out) const noexcept;
  /// This rank's array with that common tag is there, and registered on every queue.
  [[nodiscard]] bool is_on_every_queue(unsigned tag) const noexcept;
  /// Registrations for this process's own work requests, on the CQ of this lane.
  [[nodiscard]] memory::registration_cache& cache_of(int lane) noexcept;
  /// Regions so far that could not be registered: peers reach them by messages.
  [[nodiscard]] std::uint64_t refused() const noexcept;
  /// Lanes that are the first on their CQ.
  [[nodiscard]] std::span<const int> first_lanes() const noexcept { return first_lanes_; }

 private:
  struct queue_memory;
  struct kept;

  [[nodiscard]] std::unique_lock<std::mutex> lock_for(memory::region_ref ref, rights allowed) const;
  [[nodiscard]] bool register_everywhere(const memory::local_region& region, unsigned tag,
                                         kept& k) noexcept;
  [[nodiscard]] bool register_writable(const memory::local_region& region, kept& k) noexcept;
  [[nodiscard]] bool register_readable(const memory::local_region& region, kept& k) noexcept;
  void forget(memory::region_ref ref, kept& k) noexcept;
  [[nodiscard]] bool register_region(const memory::local_region& region, kept& k) noexcept;
  void note_refused(const memory::local_region& region) noexcept;

  // Constant after construction.
  std::vector<std::unique_ptr<queue_memory>> queues_;  // one per CQ
  std::vector<std::size_t> queue_of_lane_;
  std::vector<int> first_lanes_;  // by CQ
  memory::segment table_memory_;
  utofu_stadd_t table_address_ = 0;

  // By slot: of who has the slot, so that large sends of several lanes take no lock here.
  sync::shared_pages<kept, memory::region_table::slots> kept_;
  // Of those that peers may write to, and their tags; and of the common ones, which others look at.
  mutable std::mutex mutex_;
  sync::shared_counter refused_;
};

}  // namespace heddle::transport::utofu
