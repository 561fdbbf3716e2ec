// SPDX-License-Identifier: BSD-3-Clause
// imported_regions.cpp - mapping peers' regions, and forgetting them.
#include "backends/shm/imported_regions.h"

#include <fmt/format.h>

#include <string>

#include "memory/region_table.h"
#include "sync/shared_region.h"

namespace heddle::transport::shm {

/// A mapped region. Keeps the peer's segment too: that is where the live word is.
struct imported_regions::imported {
  std::shared_ptr<peer_process> peer;
  mapping memory;
  sync::shared_region* slot = nullptr;
  std::uint64_t bytes = 0;
  rights allowed = rights::none;
};

std::shared_ptr<void> imported_regions::import(const std::shared_ptr<peer_process>& peer,
                                               memory::region_ref region,
                                               detail::remote_target& out) {
  const region_name name{peer->number(), region.slot, region.generation};
  const auto known = known_.find(name);
  std::shared_ptr<imported> found = known != known_.end() ? known->second.lock() : nullptr;
  if (found == nullptr) {
    found = map_region(peer, region);
    known_[name] = found;
  }
  forget_unused();
  out.bytes = found->bytes;
  out.allowed = found->allowed;
  if (found->memory.size() == 0) return nullptr;
  out.direct = found->memory.data();
  out.live = &found->slot->live();
  out.generation = region.generation;
  return found;
}

/// Without a mapping when the region is not memory that can be mapped. Throws when there is no such
/// region.
std::shared_ptr<imported_regions::imported> imported_regions::map_region(
    const std::shared_ptr<peer_process>& peer, memory::region_ref region) {
  const std::string name =
      fmt::format("region {}.{} of rank {}", region.slot, region.generation, peer->number());
  if (region.slot >= memory::region_table::slots) throw error(name + " cannot exist");
  sync::shared_region& slot = peer->memory().regions[region.slot];
  sync::region_facts facts;
  if (!slot.try_enter(region.generation, facts)) {
    throw error(name + " does not exist: withdrawn, or not exposed yet");
  }
  auto found = std::make_shared<imported>();
  found->peer = peer;
  found->slot = &slot;
  found->bytes = facts.bytes;
  found->allowed = facts.allowed & rights::all;
  try {  // inside the region, so that its descriptor stays what it is
    if (facts.memfd >= 0 && facts.bytes != 0) {
      const owned_fd file = peer->open_file(facts.memfd, file_kind::memory);
      check_sealed_memory(file.get(), facts.bytes, name);
      const bool writable = (facts.allowed & (rights::write | rights::atomic)) != rights::none;
      found->memory = mapping(file.get(), facts.bytes, name, writable);
    }
  } catch (...) {
    (void)slot.leave(region.generation);
    throw;
  }
  if (!slot.leave(region.generation)) throw error(name + " was withdrawn meanwhile");
  return found;
}

/// Now and then, so that withdrawn regions do not pile up.
void imported_regions::forget_unused() {
  if (known_.size() < forget_at_) return;
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  forget_at_ = 64 + 2 * known_.size();
}

void imported_regions::mark_lost(rank number) noexcept {
  for (auto it = known_.lower_bound({number, 0, 0});
       it != known_.end() && std::get<0>(it->first) == number; ++it) {
    if (const auto found = it->second.lock()) found->slot->live().set(0);
  }
}

}  // namespace heddle::transport::shm
