// SPDX-License-Identifier: BSD-3-Clause
// device_regions.cpp - telling peers of our regions, and mapping theirs.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "backends/shm/device.h"

namespace heddle::transport::shm {

namespace {

/// A peer is inside a region for one piece of a copy. One that takes longer has died or was stopped
/// there.
constexpr auto longest_stay = std::chrono::seconds(1);

}  // namespace

/// A mapped region. Keeps the peer's segment too: that is where the live word is.
struct shm_device::imported {
  std::shared_ptr<peer_process> peer;
  mapping memory;
  sync::shared_region* slot = nullptr;
  std::uint64_t bytes = 0;
  rights allowed = rights::none;
};

void shm_device::expose(const memory::local_region& region) noexcept {
  if (region.ref.slot >= memory::region_table::slots || region.ref.generation == 0) return;
  memory().regions[region.ref.slot].publish(region.ref.generation,
                                            {reinterpret_cast<std::uint64_t>(region.memory.data()),
                                             region.memory.size(), region.allowed, region.memfd});
}

void shm_device::withdraw(const memory::local_region& region) noexcept {
  if (region.ref.slot >= memory::region_table::slots) return;
  sync::shared_region& slot = memory().regions[region.ref.slot];
  slot.close();
  if (!slot.only_read()) {
    const auto give_up = std::chrono::steady_clock::now() + longest_stay;
    while (!slot.quiet() && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  }
  slot.clear();
}

std::shared_ptr<void> shm_device::import(rank number, memory::region_ref region,
                                         detail::remote_target& out) {
  const std::shared_ptr<peer_process> peer = find_peer(number);
  if (peer == nullptr) return nullptr;
  if (peer->is_gone())
    throw error(
        fmt::format("rank {} has ended, its regions too: {}", number, peer->describe_end()));
  const std::scoped_lock lock(mutex_);
  std::weak_ptr<imported>& known = imports_[{number, region.slot, region.generation}];
  std::shared_ptr<imported> found = known.lock();
  if (found == nullptr) {
    found = map_region(peer, region);
    known = found;
  }
  forget_unused_imports();
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
std::shared_ptr<shm_device::imported> shm_device::map_region(
    const std::shared_ptr<peer_process>& peer, memory::region_ref region) const {
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
void shm_device::forget_unused_imports() {
  if (imports_.size() < forget_at_) return;
  std::erase_if(imports_, [](const auto& entry) { return entry.second.expired(); });
  forget_at_ = 64 + 2 * imports_.size();
}

void shm_device::bury(rank number) noexcept {
  const std::scoped_lock lock(mutex_);
  for (auto it = imports_.lower_bound({number, 0, 0});
       it != imports_.end() && std::get<0>(it->first) == number; ++it) {
    if (const auto found = it->second.lock()) found->slot->live().set(0);
  }
}

}  // namespace heddle::transport::shm
