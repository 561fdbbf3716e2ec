// SPDX-License-Identifier: BSD-3-Clause
// registration_table.cpp - adding to the table, making room in it, and clearing away.
#include "memory/registration_table.h"

#include <algorithm>

#include "base/error.h"

namespace heddle::memory {
namespace {

constexpr std::size_t most_entries = 16 * 1024;

std::size_t checked_entries(std::size_t entries) {
  if (entries == 0 || entries > most_entries)
    fail("registration cache: {} entries; possible are 1 to {}", entries, most_entries);
  return entries;
}

}  // namespace

registration_table::registration_table(registrar& device, const cache_limits& limits,
                                       registration_cache* owner)
    : device_(device),
      most_bytes_(limits.bytes),
      owner_(owner),
      entries_(checked_entries(limits.entries)),
      index_(limits.entries, entries_.add()) {
  free_.reserve(limits.entries);  // nothing below allocates
  entries_.data()->owner = owner_;
}

registration& registration_table::make_next() noexcept {
  registration* next = entries_.data();  // the first was made for the index
  if (!used().empty()) (next = &entries_.add())->owner = owner_;
  used_.add(1);
  return *next;
}

std::span<registration> registration_table::used() const noexcept {
  return {entries_.data(), static_cast<std::size_t>(used_.get())};
}

cache_counters registration_table::counters() const noexcept {
  cache_counters sums;
  for (const registration& e : used()) sums.hits += e.word.times_entered();
  sums.misses = misses_.get();
  sums.evictions = evictions_.get();
  return sums;
}

bool registration_table::has(address_range pages) const noexcept {
  return std::ranges::any_of(used(), [&](const registration& e) {
    return e.state != registration::state_t::free && e.pages() == pages;
  });
}

address_range registration_table::with_neighbours(address_range pages) const noexcept {
  address_range all = pages;
  for (const registration& e : used()) {
    const address_range other = e.pages();
    if (e.state != registration::state_t::listed || !e.word.is_open() || !other.overlaps(pages))
      continue;
    all = {std::min(all.from, other.from), std::max(all.to, other.to)};
  }
  return all.bytes() <= 2 * pages.bytes() ? all : pages;
}

// --- adding ----------------------------------------------------------------------------

registration_table::added registration_table::add(address_range pages) noexcept {
  registrar::registered answer = device_.register_memory(pages.memory());
  while (answer.code == registrar::answer::full && evict_one())
    answer = device_.register_memory(pages.memory());
  if (answer.code != registrar::answer::done) return {answer.code, nullptr};
  misses_.add();
  return {answer.code, &fill(pages, answer.handle)};
}

registration& registration_table::fill(address_range pages, std::uint64_t handle) noexcept {
  registration& e = free_.empty() ? make_next() : *free_.back();
  if (!free_.empty()) free_.pop_back();
  e.handle = handle;
  e.from.set(pages.from);
  e.bytes.set(pages.bytes());
  e.life.set(++last_life_);
  e.last_use = last_life_;
  e.uses_before = e.word.times_entered();
  e.state = registration::state_t::unlisted;
  registered_bytes_ += pages.bytes();
  return e;
}

void registration_table::list(registration& e) noexcept {
  const address_range pages = e.pages();
  e.state = registration::state_t::listed;
  index_.insert(pages.from, e);
  for (registration& older : used()) {
    const address_range other = older.pages();
    if (&older == &e || older.state != registration::state_t::listed) continue;
    if (other.from < pages.from || other.to > pages.to) continue;
    unlist(older);
    if (older.word.supersede() && older.word.cleared_away()) clear(older);
  }
}

// --- making room -----------------------------------------------------------------------

bool registration_table::make_room(std::size_t bytes) noexcept {
  while (free_.empty() && used().size() == entries_.capacity())
    if (!evict_one()) return false;
  while (most_bytes_ != 0 && registered_bytes_ + bytes > most_bytes_)
    if (!evict_one()) break;
  return true;
}

/// Undoes what was not used for longest, which is found out only here: an entry that was entered
/// since the last look counts as used now. So hits write nothing but the entry's word.
bool registration_table::evict_one() noexcept {
  for (;;) {
    registration* oldest = nullptr;
    for (registration& e : used()) {
      if (e.state != registration::state_t::listed) continue;
      if (const std::uint64_t uses = e.word.times_entered(); uses != e.uses_before) {
        e.uses_before = uses;
        e.last_use = last_life_;
      }
      if (e.word.is_used() || !e.word.is_open()) continue;
      if (oldest == nullptr || e.last_use < oldest->last_use) oldest = &e;
    }
    if (oldest == nullptr) return false;
    if (!oldest->word.end_unused()) continue;  // somebody was faster
    unlist(*oldest);
    evictions_.add();
    if (oldest->word.cleared_away()) {
      clear(*oldest);
      return true;
    }
  }
}

// --- clearing away ---------------------------------------------------------------------

void registration_table::unlist(registration& e) noexcept {
  if (e.state != registration::state_t::listed) return;
  e.state = registration::state_t::unlisted;
  index_.erase(e.from.get(), e);
}

void registration_table::clear(registration& e) noexcept {
  static_cast<void>(e.word.end());  // may have been joinable
  unlist(e);
  device_.deregister(e.handle);
  registered_bytes_ -= e.bytes.get();
  e.bytes.set(0);
  e.state = registration::state_t::free;
  free_.push_back(&e);
}

}  // namespace heddle::memory
