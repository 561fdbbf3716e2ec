// SPDX-License-Identifier: BSD-3-Clause
// region_table.cpp - slots with a pin count each; who has begun or ended a slot's life has it for
// himself.
#include "memory/region_table.h"

#include <bit>
#include <new>
#include <thread>

#include "sync/slot_life.h"

namespace heddle::memory {

/// A line of its own: those of different lanes lie side by side.
struct alignas(sync::cache_line) region_table::slot : sync::free_number<> {
  sync::pin_count users;
  sync::slot_life life;
  // Written only while the pin count is closed and empty; read by whoever entered it.
  local_region region;
};

region_table::slot* region_table::links::find(std::uint32_t number) const noexcept {
  return of->find(number);
}
region_table::slot* region_table::links::make(std::uint32_t number) const noexcept {
  return of->make(number);
}

region_table::region_table() : free_({&slots_}, symmetric_slots, slots), lasting_(slots) {
  for (std::uint32_t number = 0; number != symmetric_slots; ++number)
    if (slots_.make(number) == nullptr) throw std::bad_alloc();
}

region_table::~region_table() = default;

region_ref region_table::symmetric_ref(std::uint64_t sequence) noexcept {
  constexpr std::uint64_t generations = 0xffff'ffff;  // 1 to this: never 0
  return {static_cast<std::uint32_t>(sequence % symmetric_slots),
          static_cast<std::uint32_t>(sequence / symmetric_slots % generations + 1)};
}

local_region region_table::add(std::span<std::byte> memory, rights allowed, backing on,
                               std::size_t home) noexcept {
  const auto number = free_.take(home);
  if (!number) return {};
  slot& s = *slots_.find(*number);
  std::uint32_t generation = s.life.last() + 1;
  if (generation == 0) generation = 1;
  static_cast<void>(s.life.try_begin(generation));  // nobody else has this slot
  return list(open(s, {{*number, generation}, memory, allowed, on}));
}

std::optional<std::uint64_t> region_table::next_symmetric(std::uint64_t from) noexcept {
  for (std::uint64_t n = from; n != from + symmetric_slots; ++n)
    if (slots_.find(symmetric_ref(n).slot)->life.is_empty()) return n;
  return {};
}

local_region region_table::add_at(region_ref ref, std::span<std::byte> memory, rights allowed,
                                  backing on) noexcept {
  if (ref.slot >= symmetric_slots || ref.generation == 0) return {};
  slot& s = *slots_.find(ref.slot);
  if (!s.life.try_begin(ref.generation)) return {};
  return list(open(s, {ref, memory, allowed, on}));
}

local_region region_table::open(slot& s, const local_region& region) noexcept {
  s.region = region;
  s.users.open();
  return region;
}

void region_table::remove(region_ref ref) noexcept {
  slot* const named = slots_.find(ref.slot);
  if (named == nullptr || !named->life.try_end(ref.generation)) return;
  slot& s = *named;
  unlist(s.region);
  s.users.close();
  while (!s.users.empty()) std::this_thread::yield();
  s.region = {};
  s.life.ended();
  if (ref.slot >= symmetric_slots) free_.give_back(ref.slot);
}

namespace {

sync::enclosing_intervals<>::interval interval_of(const local_region& region) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(region.memory.data());
  const auto facts = std::uint64_t{static_cast<std::uint32_t>(region.on.memfd)} << 32 |
                     static_cast<std::uint32_t>(region.allowed);
  return {from, from + region.memory.size(), {std::bit_cast<std::uint64_t>(region.ref), facts}};
}

}  // namespace

local_region region_table::list(const local_region& region) noexcept {
  if (!region.on.lasts) return region;
  const std::scoped_lock lock(mutex_);
  lasting_.insert(interval_of(region));
  return region;
}

void region_table::unlist(const local_region& region) noexcept {
  if (!region.on.lasts) return;
  const std::scoped_lock lock(mutex_);
  lasting_.erase(interval_of(region));
}

region_table::pinned region_table::look_up(region_ref ref, std::uint64_t offset,
                                           std::uint64_t bytes, rights wanted) noexcept {
  slot* const named = slots_.find(ref.slot);
  if (named == nullptr || ref.generation == 0) return {};
  slot& s = *named;
  if (!s.users.try_enter()) return {};
  sync::pin pin(s.users);
  if (s.region.ref.generation != ref.generation) return {};
  if (!allows(s.region.allowed, wanted)) return {status::denied, nullptr, {}};
  const std::uint64_t size = s.region.memory.size();
  if (offset > size || bytes > size - offset) return {status::out_of_bounds, nullptr, {}};
  return {status::done, s.region.memory.data() + offset, std::move(pin)};
}

local_region region_table::find_lasting(std::span<const std::byte> memory) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(memory.data());
  const auto found = lasting_.find(from, from + memory.size());
  if (!found) return {};
  const auto& [ref, facts] = found->what;
  auto* const at = reinterpret_cast<std::byte*>(found->from);  // NOLINT: interval_of() made it so
  return {std::bit_cast<region_ref>(ref),
          {at, found->to - found->from},
          static_cast<rights>(static_cast<std::uint32_t>(facts)),
          {static_cast<int>(facts >> 32), true}};
}

}  // namespace heddle::memory
