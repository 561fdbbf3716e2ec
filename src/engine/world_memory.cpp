// world_memory.cpp - regions of this rank, keys, and regions of peers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "engine/key_fields.h"
#include "engine/world_core.h"
#include "sync/fork.h"

namespace heddle {
namespace engine {
namespace {

/// For memory that Heddle allocates itself.
memory::peers peers_may(rights allowed) noexcept {
  const bool change = (allowed & (rights::write | rights::atomic)) != rights::none;
  return change ? memory::peers::write : memory::peers::only_read;
}

}  // namespace

region world_core::make_region(const memory::local_region& r, std::span<std::byte> memory,
                               rights allowed) {
  for (transport::device* d : devices_) d->expose(r);
  region made;
  made.world_ = shared_from_this();
  made.memory_ = memory;
  key_fields f;
  f.owner = self();
  f.ref = r.ref;
  f.bytes = memory.size();
  f.allowed = static_cast<std::uint32_t>(allowed);
  made.key_ = to_key(f);
  return made;
}

region world_core::expose(std::span<std::byte> memory, rights allowed) {
  const auto r = regions_.add(memory, allowed);
  if (r.ref.generation == 0) {
    fail("expose {} bytes: all {} regions are in use; withdraw some, or expose larger pieces",
         memory.size(), memory::region_table::slots);
  }
  return make_region(r, memory, allowed);
}

region world_core::allocate(std::size_t bytes, rights allowed) {
  memory::segment segment("heddle-region", bytes, peers_may(allowed));
  const auto r = regions_.add(segment.memory().first(bytes), allowed, segment.fd());
  if (r.ref.generation == 0) {
    fail("allocate {} bytes: all {} regions are in use; withdraw some", bytes,
         memory::region_table::slots);
  }
  const std::lock_guard lock(mutex_);
  owned_.try_emplace({r.ref.slot, r.ref.generation}, std::move(segment));
  return make_region(r, r.memory, allowed);
}

void world_core::withdraw(const key& of) noexcept {
  if (sync::forked()) return;  // it is the parent's, whose peers go on using it
  const memory::region_ref ref = from_key(of).ref;
  for (transport::device* d : devices_) d->withdraw({.ref = ref, .memory = {}, .allowed = {}});
  regions_.remove(ref);
  const std::lock_guard lock(mutex_);
  owned_.erase({ref.slot, ref.generation});
}

std::shared_ptr<memory::remote_memory> world_core::import(const key& of_peer) {
  const key_fields f = from_key(of_peer);
  if (f.magic != key_fields{}.magic || f.owner < 0 || f.owner >= size() || f.allowed > 7 ||
      f.ref.generation == 0) {
    fail("import: these bytes are not a key of this world; pass what region::key() gave");
  }
  auto made = std::make_shared<memory::remote_memory>(imported_);
  made->owner = f.owner;
  made->ref = f.ref;
  map(*made, f.bytes, static_cast<rights>(f.allowed));
  return made;
}

/// No more than `bytes` and `allowed`, which were promised to us, and no more than the owner says.
void world_core::map(memory::remote_memory& made, std::uint64_t bytes, rights allowed) {
  made.bytes = bytes;
  made.allowed = allowed;
  if (ended_) return;  // every operation on it will be answered `closed`
  made.mapping = device_to(made.owner).import(made.owner, made.ref, made);
  made.bytes = std::min(made.bytes, bytes);
  made.allowed = made.allowed & allowed;
  made.mapped = rights_here(made.owner, made);
}

/// What plain instructions may do: not the atomics that others do by a network which does not see
/// the CPU's.
rights world_core::rights_here(rank owner, const detail::remote_target& t) const noexcept {
  if (t.direct == nullptr) return rights::none;
  if (routes_->cpu_does_atomics(owner)) return t.allowed;
  return t.allowed & (rights::read | rights::write);
}

// --- symmetric memory ------------------------------------------------------------------

std::span<std::byte> world_core::add_symmetric(std::uint64_t bytes, rights allowed,
                                               std::uint64_t& number) {
  sync::refuse_in_child("symmetric memory");
  memory::segment segment("heddle-symmetric", bytes, peers_may(allowed));
  const std::span<std::byte> memory = segment.memory().first(bytes);
  const gathering turn(*this);
  {
    const std::lock_guard lock(mutex_);
    number = symmetric_count_++;
    const auto r =
        regions_.add_at(memory::region_table::symmetric_ref(number), memory, allowed, segment.fd());
    if (r.ref.generation == 0) {
      fail("symmetric memory: {} arrays are alive at once, more are not possible; destroy some",
           memory::region_table::symmetric_slots);
    }
    for (transport::device* d : devices_) d->expose(r);
    owned_.try_emplace({r.ref.slot, r.ref.generation}, std::move(segment));
  }
  const auto other = in_context("symmetric memory", [&] {
    return find_dissent({.bytes = bytes, .allowed = static_cast<std::uint64_t>(allowed)});
  });
  if (other) {
    fail(
        "symmetric memory: {} bytes here, another size or other rights on rank {}: all ranks must "
        "ask for the same, in the same order",
        bytes, *other);
  }
  return memory;
}

std::optional<rank> world_core::find_dissent(const claim& mine) {
  if (!session_->meets_after_joining()) return meeting_.meet(*lanes_.front(), mine);
  const auto all = session_->exchange(std::as_bytes(std::span(&mine, 1)));
  for (std::size_t peer = 0; peer < all.size(); ++peer)
    if (all[peer].size() != sizeof mine || std::memcmp(all[peer].data(), &mine, sizeof mine) != 0)
      return static_cast<rank>(peer);
  return {};
}

void world_core::remove_symmetric(std::uint64_t number) noexcept {
  key_fields f;
  f.ref = memory::region_table::symmetric_ref(number);
  withdraw(to_key(f));
}

std::unique_ptr<memory::remote_memory> world_core::import_symmetric(rank peer, std::uint64_t number,
                                                                    std::uint64_t bytes,
                                                                    rights allowed) noexcept {
  auto made = std::make_unique<memory::remote_memory>(imported_);
  made->owner = peer;
  made->ref = memory::region_table::symmetric_ref(number);
  try {
    map(*made, bytes, allowed);
  } catch (const error& e) {
    log::debug(log::subsystem::memory, "symmetric array {} of rank {} is not mapped: {}", number,
               peer, e.what());
  }
  return made;
}

}  // namespace engine

// --- region, symmetric_memory: the handles ---------------------------------------------

region::region(region&& other) noexcept = default;

region& region::operator=(region&& other) noexcept {
  if (this != &other) {
    withdraw();
    world_ = std::move(other.world_);
    memory_ = std::exchange(other.memory_, {});
    key_ = other.key_;
  }
  return *this;
}

region::~region() {
  withdraw();
}

void region::withdraw() noexcept {
  if (const auto world = std::exchange(world_, nullptr)) world->withdraw(key_);
  memory_ = {};
}

namespace detail {

symmetric_memory::symmetric_memory(std::shared_ptr<engine::world_core> world, std::uint64_t bytes,
                                   rights allowed)
    : world_(std::move(world)),
      allowed_(allowed),
      ranks_(static_cast<std::uint32_t>(world_->size())),
      targets_(std::make_unique<std::atomic<const remote_target*>[]>(ranks_)) {
  local_ = world_->add_symmetric(bytes, allowed, id_);
}

symmetric_memory::~symmetric_memory() {
  world_->remove_symmetric(id_);
  for (std::uint32_t i = 0; i < ranks_; ++i) {
    // Relaxed: by contract nobody else uses the array any more.
    delete static_cast<const memory::remote_memory*>(targets_[i].load(std::memory_order_relaxed));
  }
}

/// Two threads may both make one; the first to publish wins.
const remote_target* symmetric_memory::resolve(rank peer) const {
  auto made = world_->import_symmetric(peer, id_, local_.size(), allowed_);
  const remote_target* expected = nullptr;
  // R1 pairs with A1 in target(); on failure acquire what the other thread published.
  if (targets_[static_cast<std::size_t>(peer)].compare_exchange_strong(
          expected, made.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
    return made.release();
  }
  return expected;
}

}  // namespace detail
}  // namespace heddle
