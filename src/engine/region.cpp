// SPDX-License-Identifier: BSD-3-Clause
// region.cpp - region and symmetric_memory: the handles on a world's memory.
//
// The targets of symmetric_memory are std::atomic here, outside src/sync: programs that inline
// symmetric_memory::target() read them, so they are declared in a public header (memory.h).
#include <utility>

#include "engine/key_fields.h"
#include "engine/world_core.h"
#include "sync/fork.h"

namespace heddle {

region::region(std::shared_ptr<engine::world_core> world, std::span<std::byte> memory,
               const heddle::key& of)
    : world_(std::move(world)), memory_(memory), key_(of) {}

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

/// In the child of a fork the memory is the parent's, whose peers go on using it.
void region::withdraw() noexcept {
  const auto world = std::exchange(world_, nullptr);
  if (world && !sync::forked()) world->memory().withdraw(engine::from_key(key_).ref, memory_);
  memory_ = {};
}

namespace detail {

symmetric_memory::symmetric_memory(std::shared_ptr<engine::world_core> world, std::uint64_t bytes,
                                   rights allowed)
    : world_(std::move(world)),
      allowed_(allowed),
      ranks_(static_cast<std::uint32_t>(world_->size())),
      targets_(std::make_unique<std::atomic<const remote_target*>[]>(ranks_)) {
  local_ = world_->symmetric().add(bytes, allowed, id_);
}

symmetric_memory::symmetric_memory(std::shared_ptr<engine::world_core> world,
                                   std::span<std::byte> mine, rights allowed)
    : world_(std::move(world)),
      local_(mine),
      allowed_(allowed),
      ranks_(static_cast<std::uint32_t>(world_->size())),
      targets_(std::make_unique<std::atomic<const remote_target*>[]>(ranks_)),
      parts_(world_->symmetric().expose(mine, allowed)) {}

/// Computed, or as its owner has said.
struct symmetric_memory::parts {
  static engine::exposed_part of(const symmetric_memory& all, rank peer) noexcept {
    if (all.parts_) return all.parts_[static_cast<std::size_t>(peer)];
    return {memory::region_table::symmetric_ref(all.id_), all.local_.size()};
  }
};

symmetric_memory::~symmetric_memory() {
  if (!sync::forked()) world_->memory().withdraw(parts::of(*this, world_->self()).ref, local_);
  for (std::uint32_t i = 0; i < ranks_; ++i) {
    // Relaxed: by contract nobody else uses the array any more.
    delete static_cast<const memory::remote_memory*>(targets_[i].load(std::memory_order_relaxed));
  }
}

std::uint64_t symmetric_memory::bytes(rank peer) const noexcept {
  return static_cast<std::uint32_t>(peer) < ranks_ ? parts::of(*this, peer).bytes : 0;
}

std::span<std::byte> symmetric_memory::mapped(rank peer) const {
  if (peer == world_->self()) return local_;
  const remote_target* const there = target(peer);
  return there != nullptr ? mapped_memory(*there) : std::span<std::byte>();
}

/// Two threads may both make one; the first to publish wins.
const remote_target* symmetric_memory::resolve(rank peer) const {
  auto made = world_->memory().import_symmetric(peer, parts::of(*this, peer), allowed_);
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
