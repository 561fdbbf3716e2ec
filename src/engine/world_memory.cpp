// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "engine/key_fields.h"

namespace heddle::engine {
namespace {

/// Of memory that they map.
memory::peers peers_may(rights allowed) noexcept {
  const bool change = (allowed & (rights::write | rights::atomic)) != rights::none;
  return change ? memory::peers::write : memory::peers::only_read;
}

}  // namespace

memory::segment world_memory::make_segment(const char* name, std::size_t bytes,
                                           rights allowed) const {
  return {name, bytes, net_.shares_files() ? peers_may(allowed) : memory::peers::none};
}

world_memory::exposed world_memory::tell_devices(const memory::local_region& r,
                                                 std::span<std::byte> memory,
                                                 rights allowed) const {
  for (transport::device* d : net_.devices()) d->expose(r);
  key_fields f;
  f.owner = self_;
  f.ref = r.ref;
  f.bytes = memory.size();
  f.allowed = static_cast<std::uint32_t>(allowed);
  return {memory, to_key(f)};
}

void world_memory::keep(const memory::local_region& region, memory::segment segment) {
  auto own = std::make_shared<own_memory>();
  own->memory = std::move(segment);
  own->region = region;
  own->live.set(region.ref.generation);
  const std::lock_guard lock(mutex_);
  owned_.try_emplace({region.ref.slot, region.ref.generation}, std::move(own));
}

world_memory::exposed world_memory::expose(std::span<std::byte> memory, rights allowed) {
  const auto r = table_.add(memory, allowed);
  if (r.ref.generation == 0) {
    fail("expose {} bytes: all {} regions are in use; withdraw some, or expose larger pieces",
         memory.size(), memory::region_table::slots);
  }
  return tell_devices(r, memory, allowed);
}

world_memory::exposed world_memory::allocate(std::size_t bytes, rights allowed) {
  memory::segment segment = make_segment("heddle-region", bytes, allowed);
  const auto r = table_.add(segment.memory().first(bytes), allowed, {segment.fd(), true});
  if (r.ref.generation == 0) {
    fail("allocate {} bytes: all {} regions are in use; withdraw some", bytes,
         memory::region_table::slots);
  }
  keep(r, std::move(segment));
  return tell_devices(r, r.memory, allowed);
}

void world_memory::withdraw(memory::region_ref which, std::span<std::byte> memory) noexcept {
  for (transport::device* d : net_.devices())
    d->revoke({.ref = which, .memory = memory, .allowed = {}});
  table_.remove(which);
  const std::lock_guard lock(mutex_);
  const auto own = owned_.find({which.slot, which.generation});
  if (own == owned_.end()) return;
  own->second->live.set(0);
  owned_.erase(own);
}

std::uint64_t world_memory::next_symmetric(std::uint64_t from) const {
  if (const auto number = table_.next_symmetric(from)) return *number;
  fail("symmetric memory: {} arrays are alive at once, more are not possible; destroy some",
       memory::region_table::symmetric_slots);
}

std::span<std::byte> world_memory::add_symmetric(std::uint64_t number, std::uint64_t bytes,
                                                 rights allowed) {
  memory::segment segment = make_segment("heddle-symmetric", bytes, allowed);
  const std::span<std::byte> memory = segment.memory().first(bytes);
  const auto r = table_.add_at(memory::region_table::symmetric_ref(number), memory, allowed,
                               {segment.fd(), true});
  keep(r, std::move(segment));
  return tell_devices(r, memory, allowed).memory;
}

std::shared_ptr<memory::remote_memory> world_memory::import(const key& of_peer) {
  const key_fields f = from_key(of_peer);
  if (f.magic != key_fields{}.magic || f.owner < 0 || f.owner >= size_ || f.allowed > 7 ||
      f.ref.generation == 0) {
    fail("import: these bytes are not a key of this world; pass what region::key() gave");
  }
  auto made = std::make_shared<memory::remote_memory>(imported_);
  made->owner = f.owner;
  made->ref = f.ref;
  map(*made, f.bytes, static_cast<rights>(f.allowed));
  return made;
}

std::unique_ptr<memory::remote_memory> world_memory::import_symmetric(rank peer,
                                                                      const exposed_part& part,
                                                                      rights allowed) {
  auto made = std::make_unique<memory::remote_memory>(imported_);
  made->owner = peer;
  made->ref = part.ref;
  try {
    map(*made, part.bytes, allowed);
  } catch (const error& e) {
    log::debug(log::subsystem::memory, "symmetric memory {}.{} of rank {} is not mapped: {}",
               part.ref.slot, part.ref.generation, peer, e.what());
  }
  return made;
}

/// No more than `bytes` and `allowed`, which were promised to us, and no more than the owner says.
void world_memory::map(memory::remote_memory& made, std::uint64_t bytes, rights allowed) {
  made.bytes = bytes;
  made.allowed = allowed;
  if (ended_.is_set()) return;  // every operation on it will be answered `closed`
  transport::device& way = net_.to(made.owner);
  if (made.owner == self_ && way.describe().maps_files) made.mapping = find_own(made.ref, made);
  if (made.mapping == nullptr) made.mapping = way.import(made.owner, made.ref, made);
  made.bytes = std::min(made.bytes, bytes);
  made.allowed = made.allowed & allowed;
  made.mapped = rights_here(made.owner, made);
}

/// This rank's own is there already, be it a file's or not.
std::shared_ptr<void> world_memory::find_own(memory::region_ref which, detail::remote_target& out) {
  const std::lock_guard lock(mutex_);
  const auto found = owned_.find({which.slot, which.generation});
  if (found == owned_.end()) return nullptr;
  const std::shared_ptr<own_memory>& own = found->second;
  out.direct = own->region.memory.data();
  out.live = &own->live;
  out.generation = which.generation;
  out.bytes = own->region.memory.size();
  out.allowed = own->region.allowed;
  return own;
}

/// What plain instructions may do: not the atomics that others do by a network which does not see
/// the CPU's.
rights world_memory::rights_here(rank owner, const detail::remote_target& t) const noexcept {
  if (t.direct == nullptr) return rights::none;
  if (net_.cpu_does_atomics(owner)) return t.allowed;
  return t.allowed & (rights::read | rights::write);
}

void world_memory::end() noexcept {
  ended_.set();
  imported_->unmap_all();
}

}  // namespace heddle::engine
