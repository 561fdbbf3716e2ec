// SPDX-License-Identifier: BSD-3-Clause
// region_table.cpp - slots with a pin count each; who has begun or ended a slot's life has it for
// himself.
#include "memory/region_table.h"

#include <bit>
#include <mutex>
#include <new>
#include <thread>

#include "sync/enclosing_intervals.h"
#include "sync/free_numbers.h"
#include "sync/shared_pages.h"
#include "sync/slot_life.h"

namespace heddle::memory {
namespace {

/// A line of its own: those of different lanes lie side by side.
struct alignas(sync::cache_line) slot : sync::free_number<> {
  sync::pin_count users;
  sync::slot_life life;
  // Written only while the pin count is closed and empty; read by whoever entered it.
  local_region region;
};

using pages = sync::shared_pages<slot, region_table::slots>;

struct links {
  pages* of;
  [[nodiscard]] slot* find(std::uint32_t number) const noexcept { return of->find(number); }
  [[nodiscard]] slot* make(std::uint32_t number) const noexcept { return of->make(number); }
};

sync::enclosing_intervals<>::interval interval_of(const local_region& region) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(region.memory.data());
  const auto facts = std::uint64_t{static_cast<std::uint32_t>(region.on.memfd)} << 32 |
                     static_cast<std::uint32_t>(region.allowed);
  return {from, from + region.memory.size(), {std::bit_cast<std::uint64_t>(region.ref), facts}};
}

local_region open(slot& s, const local_region& region) noexcept {
  s.region = region;
  s.users.open();
  return region;
}

}  // namespace

struct region_table::parts {
  local_region list(const local_region& region) noexcept;
  void unlist(const local_region& region) noexcept;

  pages numbered;
  sync::free_numbers<links> free{{&numbered}, symmetric_slots, slots};  // beyond symmetric ones
  sync::enclosing_intervals<> lasting{slots};
  std::mutex changing;  // of those who change `lasting`
};

local_region region_table::parts::list(const local_region& region) noexcept {
  if (!region.on.lasts) return region;
  const std::scoped_lock lock(changing);
  lasting.insert(interval_of(region));
  return region;
}

void region_table::parts::unlist(const local_region& region) noexcept {
  if (!region.on.lasts) return;
  const std::scoped_lock lock(changing);
  lasting.erase(interval_of(region));
}

region_table::region_table() : parts_(std::make_unique<parts>()) {
  for (std::uint32_t number = 0; number != symmetric_slots; ++number)
    if (parts_->numbered.make(number) == nullptr) throw std::bad_alloc();
}

region_table::~region_table() = default;

region_ref region_table::symmetric_ref(std::uint64_t sequence) noexcept {
  constexpr std::uint64_t generations = 0xffff'ffff;  // 1 to this: never 0
  return {static_cast<std::uint32_t>(sequence % symmetric_slots),
          static_cast<std::uint32_t>(sequence / symmetric_slots % generations + 1)};
}

local_region region_table::add(std::span<std::byte> memory, rights allowed, backing on,
                               std::size_t home) noexcept {
  const auto number = parts_->free.take(home);
  if (!number) return {};
  slot& s = *parts_->numbered.find(*number);
  std::uint32_t generation = s.life.last() + 1;
  if (generation == 0) generation = 1;
  static_cast<void>(s.life.try_begin(generation));  // nobody else has this slot
  return parts_->list(open(s, {{*number, generation}, memory, allowed, on}));
}

std::optional<std::uint64_t> region_table::next_symmetric(std::uint64_t from) noexcept {
  for (std::uint64_t n = from; n != from + symmetric_slots; ++n)
    if (parts_->numbered.find(symmetric_ref(n).slot)->life.is_empty()) return n;
  return {};
}

local_region region_table::add_at(region_ref ref, std::span<std::byte> memory, rights allowed,
                                  backing on) noexcept {
  if (ref.slot >= symmetric_slots || ref.generation == 0) return {};
  slot& s = *parts_->numbered.find(ref.slot);
  if (!s.life.try_begin(ref.generation)) return {};
  return parts_->list(open(s, {ref, memory, allowed, on}));
}

void region_table::remove(region_ref ref) noexcept {
  slot* const named = parts_->numbered.find(ref.slot);
  if (named == nullptr || !named->life.try_end(ref.generation)) return;
  slot& s = *named;
  parts_->unlist(s.region);
  s.users.close();
  while (!s.users.empty()) std::this_thread::yield();
  s.region = {};
  s.life.ended();
  if (ref.slot >= symmetric_slots) parts_->free.give_back(ref.slot);
}

region_table::pinned region_table::look_up(region_ref ref, std::uint64_t offset,
                                           std::uint64_t bytes, rights wanted) noexcept {
  slot* const named = parts_->numbered.find(ref.slot);
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
  const auto found = parts_->lasting.find(from, from + memory.size());
  if (!found) return {};
  const auto& [ref, facts] = found->what;
  auto* const at = reinterpret_cast<std::byte*>(found->from);  // NOLINT: interval_of() made it so
  return {std::bit_cast<region_ref>(ref),
          {at, found->to - found->from},
          static_cast<rights>(static_cast<std::uint32_t>(facts)),
          {static_cast<int>(facts >> 32), true}};
}

}  // namespace heddle::memory
