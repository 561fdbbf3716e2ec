// SPDX-License-Identifier: BSD-3-Clause
// region_table.cpp - slots with a pin count each; everything that is rare happens under one mutex.
#include "memory/region_table.h"

#include <algorithm>
#include <thread>

namespace heddle::memory {

struct region_table::slot {
  sync::pin_count users;
  // Written only while the pin count is closed and empty; read by whoever entered it.
  local_region region;
  // Guarded by mutex_.
  std::uint32_t last_generation = 0;
  enum class state_t : std::uint8_t { empty, open, ending } state = state_t::empty;
};

region_table::region_table() : slots_(slots) {
  free_.reserve(slots - symmetric_slots);  // add() and remove() never allocate
  lasting_.reserve(slots);
  while (slots_.size() < symmetric_slots) slots_.add();
}

region_table::~region_table() = default;

region_ref region_table::symmetric_ref(std::uint64_t sequence) noexcept {
  constexpr std::uint64_t generations = 0xffff'ffff;  // 1 to this: never 0
  return {static_cast<std::uint32_t>(sequence % symmetric_slots),
          static_cast<std::uint32_t>(sequence / symmetric_slots % generations + 1)};
}

namespace {

bool address_below(const local_region& a, const local_region& b) {
  return a.memory.data() < b.memory.data();
}

}  // namespace

local_region region_table::add(std::span<std::byte> memory, rights allowed, backing on) noexcept {
  const std::scoped_lock lock(mutex_);
  auto number = static_cast<std::uint32_t>(slots_.size());
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
  } else if (number < slots) {
    slots_.add();
  } else {
    return {};
  }
  slot& s = *slots_.find(number);
  if (++s.last_generation == 0) s.last_generation = 1;
  return open(s, {{number, s.last_generation}, memory, allowed, on});
}

std::optional<std::uint64_t> region_table::next_symmetric(std::uint64_t from) noexcept {
  const std::scoped_lock lock(mutex_);
  for (std::uint64_t n = from; n != from + symmetric_slots; ++n)
    if (slots_.find(symmetric_ref(n).slot)->state == slot::state_t::empty) return n;
  return {};
}

local_region region_table::add_at(region_ref ref, std::span<std::byte> memory, rights allowed,
                                  backing on) noexcept {
  const std::scoped_lock lock(mutex_);
  if (ref.slot >= symmetric_slots || ref.generation == 0) return {};
  slot& s = *slots_.find(ref.slot);
  if (s.state != slot::state_t::empty) return {};
  return open(s, {ref, memory, allowed, on});
}

local_region region_table::open(slot& s, const local_region& region) noexcept {
  s.region = region;
  s.state = slot::state_t::open;
  if (region.on.lasts) {
    lasting_.insert(std::upper_bound(lasting_.begin(), lasting_.end(), region, address_below),
                    region);
    longest_lasting_ = std::max(longest_lasting_, region.memory.size());
  }
  s.users.open();
  return region;
}

void region_table::remove(region_ref ref) noexcept {
  slot* const named = slots_.find(ref.slot);
  if (named == nullptr) return;
  slot& s = *named;
  {
    const std::scoped_lock lock(mutex_);
    if (s.state != slot::state_t::open || s.region.ref != ref) return;
    s.state = slot::state_t::ending;
    forget_lasting(s.region);
    s.users.close();
  }
  while (!s.users.empty()) std::this_thread::yield();
  const std::scoped_lock lock(mutex_);
  s.region = {};
  s.state = slot::state_t::empty;
  if (ref.slot >= symmetric_slots) free_.push_back(ref.slot);
}

void region_table::forget_lasting(const local_region& region) noexcept {
  if (!region.on.lasts) return;
  const auto [first, last] =
      std::equal_range(lasting_.begin(), lasting_.end(), region, address_below);
  lasting_.erase(
      std::find_if(first, last, [&](const local_region& each) { return each.ref == region.ref; }));
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
  const std::scoped_lock lock(mutex_);
  const auto begins_after = [](const std::byte* at, const local_region& region) {
    return at < region.memory.data();
  };
  auto it = std::upper_bound(lasting_.begin(), lasting_.end(), memory.data(), begins_after);
  while (it != lasting_.begin()) {  // regions may overlap, so the nearest need not be the one
    --it;
    const auto before = static_cast<std::size_t>(memory.data() - it->memory.data());
    if (before > longest_lasting_) break;  // nor do those that begin earlier reach as far
    if (before <= it->memory.size() && memory.size() <= it->memory.size() - before) return *it;
  }
  return {};
}

}  // namespace heddle::memory
