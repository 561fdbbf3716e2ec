// SPDX-License-Identifier: BSD-3-Clause
// registration_cache.cpp - what happens under the mutex: making registrations, making room for
// them, and clearing them away.
#include "memory/registration_cache.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <thread>

#include "base/checks.h"
#include "base/error.h"
#include "sync/fork.h"

namespace heddle::memory {
namespace {

constexpr std::size_t most_entries = 16 * 1024;

std::size_t system_page() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

const cache_limits& checked(const cache_limits& limits) {
  if (!std::has_single_bit(limits.page_bytes) || limits.page_bytes < system_page())
    fail("registration cache: pages of {} bytes are none of this system", limits.page_bytes);
  if (limits.entries == 0 || limits.entries > most_entries)
    fail("registration cache: {} entries; possible are 1 to {}", limits.entries, most_entries);
  return limits;
}

}  // namespace

registration_cache::registration_cache(registrar& device, unmap_monitor* monitor,
                                       const cache_limits& limits)
    : device_(device),
      limits_(checked(limits)),
      system_page_bytes_(system_page()),
      monitor_(monitor),
      changes_(monitor != nullptr ? monitor->changes() : own_changes_),
      entries_(std::make_unique<entry[]>(limits.entries)),
      index_(limits.entries, entries_[0]) {
  free_.reserve(limits.entries);  // nothing below allocates
  for (std::size_t i = limits.entries; i-- > 0;) {
    entries_[i].owner = this;
    free_.push_back(&entries_[i]);
  }
  sync::watch_forks();
  if (monitor_ != nullptr && !monitor_->attach(*this)) monitor_ = nullptr;
}

registration_cache::~registration_cache() {
  if (sync::forked()) return;  // all of it is the parent's
  if (monitor_ != nullptr) monitor_->detach(*this);
  const std::scoped_lock lock(mutex_);
  for (entry& e : used_entries()) {
    if (e.state == entry::state_t::free) continue;
    static_cast<void>(e.word.end());
    check(e.word.cleared_away(), "a registration cache ended before its leases");
    clear(e);
  }
}

// --- acquiring -------------------------------------------------------------------------

registration_cache::grip registration_cache::search(std::uintptr_t at, std::size_t bytes,
                                                    hint* last) noexcept {
  entry& e = index_.find(at);
  const std::uint64_t life = e.life.get();
  const auto [from, to] = extent(e);
  if (!covers(from, to, at, bytes) || !changes_.caught_up()) [[unlikely]]
    return search_or_make(at, bytes, last);
  if (!e.word.try_enter()) [[unlikely]]
    return after_refusal(e, at, bytes, last);
  if (e.life.get() != life) [[unlikely]]  // then it may have covered something else
    return after_mistake(e, at, bytes, last);
  if (last != nullptr) last->set(from, to, life, e);
  return {&e, at - from};
}

// Apart, so that the path above saves no registers for them.

[[gnu::noinline]] registration_cache::grip registration_cache::after_refusal(entry& e,
                                                                             std::uintptr_t at,
                                                                             std::size_t bytes,
                                                                             hint* last) noexcept {
  if (e.word.withdraw()) tidy();
  return search_or_make(at, bytes, last);
}

[[gnu::noinline]] registration_cache::grip registration_cache::after_mistake(entry& e,
                                                                             std::uintptr_t at,
                                                                             std::size_t bytes,
                                                                             hint* last) noexcept {
  leave(e);
  return search_or_make(at, bytes, last);
}

[[gnu::noinline]] registration_cache::grip registration_cache::search_or_make(std::uintptr_t at,
                                                                              std::size_t bytes,
                                                                              hint* last) noexcept {
  const auto refused = [&](failure why) -> grip {
    refused_.next();
    return {nullptr, static_cast<std::size_t>(why)};
  };
  const std::size_t room = std::numeric_limits<std::uintptr_t>::max() - at;
  if (bytes == 0 || room < bytes || room - bytes < 2 * limits_.page_bytes || sync::forked())
    return refused(failure::refused);
  const std::scoped_lock lock(mutex_);
  while (!changes_.caught_up()) std::this_thread::yield();  // its reader waits for nobody
  sweep();
  if (entry* const e = find(at, bytes); e != nullptr) return entered(*e, at, last);
  sweep();  // again: the search may have been the last to leave something
  const made m = make({at, at + bytes});
  return m.where != nullptr ? entered(*m.where, at, last) : refused(m.code);
}

registration_cache::grip registration_cache::entered(entry& e, std::uintptr_t at,
                                                     hint* last) const noexcept {
  const auto [from, to] = extent(e);
  // What is not open need not be tried first.
  if (last != nullptr && e.word.is_open()) last->set(from, to, e.life.get(), e);
  return {&e, at - from};
}

/// One that may be shared, entered.
registration_cache::entry* registration_cache::find(std::uintptr_t at, std::size_t bytes) noexcept {
  for (entry& e : used_entries()) {
    const auto [from, to] = extent(e);
    if (e.state == entry::state_t::free || !covers(from, to, at, bytes)) continue;
    if (e.word.try_enter()) return &e;
    if (e.word.withdraw()) untidy_.set();
    if (e.word.try_join()) return &e;
  }
  return nullptr;
}

// --- making ----------------------------------------------------------------------------

registration_cache::range registration_cache::whole_pages(range exact,
                                                          std::size_t page_bytes) noexcept {
  return {exact.from & ~(page_bytes - 1), (exact.to + page_bytes - 1) & ~(page_bytes - 1)};
}

/// Grown to cover what overlaps it, unless that would more than double it: so entries merge, and a
/// walk in steps over a large buffer still registers each page at most twice.
registration_cache::range registration_cache::with_neighbours(range pages) const noexcept {
  range all = pages;
  for (const entry& e : used_entries()) {
    const range other = extent(e);
    if (e.state != entry::state_t::listed || !e.word.is_open() || !overlap(other, pages)) continue;
    all = {std::min(all.from, other.from), std::max(all.to, other.to)};
  }
  return all.bytes() <= 2 * pages.bytes() ? all : pages;
}

registration_cache::made registration_cache::make(range exact) noexcept {
  const range pages = whole_pages(exact, limits_.page_bytes);
  const range least = whole_pages(exact, system_page_bytes_);
  const std::size_t page = pages.bytes() == least.bytes() ? limits_.page_bytes : system_page_bytes_;
  // The last two: where the same pages are held by a lease from before they changed.
  const std::array wishes{with_neighbours(pages), pages, least, range{least.from, least.to + page},
                          range{least.from - page, least.to}};
  made last;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    if (i > 0 && wishes[i] == wishes[i - 1]) continue;
    if (i > 2 && last.code != failure::conflict) break;
    const made m = try_make(wishes[i], i >= 2);
    if (m.where != nullptr || m.code == failure::full) return m;
    if (i <= 2) last = m;
  }
  return last;
}

/// Two registrations of the same pages could be one to the device, and undone as one.
bool registration_cache::is_taken(range pages) const noexcept {
  return std::ranges::any_of(used_entries(), [&](const entry& e) {
    return e.state != entry::state_t::free && extent(e) == pages;
  });
}

/// `unwatched`: make it even if changes of the memory would go unnoticed; it then ends with its
/// leases.
registration_cache::made registration_cache::try_make(range pages, bool unwatched) noexcept {
  if (is_taken(pages)) return {failure::conflict, nullptr};
  if (!make_room(pages.bytes())) return {failure::full, nullptr};
  const std::uint64_t then = changes_.number();
  const bool watched = monitor_ != nullptr && monitor_->watch(pages.from, pages.to);
  if (!watched && !unwatched && monitor_ != nullptr) return {failure::refused, nullptr};
  registrar::registered answer = device_.register_memory(pages.memory());
  while (answer.code == registrar::answer::full && evict_one())
    answer = device_.register_memory(pages.memory());
  if (answer.code == registrar::answer::full) return {failure::full, nullptr};
  if (answer.code == registrar::answer::refused) return {failure::refused, nullptr};
  misses_.add();
  entry& e = fill(pages, answer.handle);
  publish(e, watched, then);
  return {failure::none, &e};
}

registration_cache::entry& registration_cache::fill(range pages, std::uint64_t handle) noexcept {
  entry& e = *free_.back();
  free_.pop_back();
  if (&e == used_entries().data() + used_entries().size()) used_.add(1);  // first used in order
  e.handle = handle;
  e.from.set(pages.from);
  e.bytes.set(pages.bytes());
  e.life.set(++last_life_);
  e.last_use = last_life_;
  e.uses_before = e.word.times_entered();
  registered_bytes_ += pages.bytes();
  return e;
}

/// Not open before it is known that its memory has not changed: others would trust it.
void registration_cache::publish(entry& e, bool watched, std::uint64_t then) noexcept {
  e.state = entry::state_t::unlisted;
  e.word.publish();
  const range pages = extent(e);
  if (!changes_.untouched_since(then, pages.from, pages.to)) {
    // What was registered may be pages that are gone: it is for this lease alone.
    if (e.word.end()) invalidations_.next();
  } else if (watched && e.word.open()) {
    e.state = entry::state_t::listed;
    index_.insert(pages.from, e);
    supersede_inside(pages, e);
  }
}

/// What it covers is not to be found any more, so that the entry that begins last before a place
/// also ends last.
void registration_cache::supersede_inside(range pages, const entry& newer) noexcept {
  for (entry& e : used_entries()) {
    const range other = extent(e);
    if (&e == &newer || e.state != entry::state_t::listed) continue;
    if (other.from < pages.from || other.to > pages.to) continue;
    unlist(e);
    if (e.word.supersede() && e.word.cleared_away()) clear(e);
  }
}

// --- making room -----------------------------------------------------------------------

/// False: every entry is leased. More bytes than allowed are possible, then.
bool registration_cache::make_room(std::size_t bytes) noexcept {
  while (free_.empty())
    if (!evict_one()) return false;
  while (limits_.bytes != 0 && registered_bytes_ + bytes > limits_.bytes)
    if (!evict_one()) break;
  return true;
}

/// Undoes what was not used for longest, which is found out only here: an entry that was entered
/// since the last look counts as used now. So hits write nothing but the entry's word.
bool registration_cache::evict_one() noexcept {
  for (;;) {
    entry* oldest = nullptr;
    for (entry& e : used_entries()) {
      if (e.state != entry::state_t::listed) continue;
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

/// Of what has ended: hides it, and clears away what nobody uses.
void registration_cache::sweep() noexcept {
  while (untidy_.take()) {
    for (entry& e : used_entries()) {
      if (e.state == entry::state_t::free || e.word.is_open()) continue;
      unlist(e);
      if (e.word.cleared_away()) clear(e);
    }
  }
}

void registration_cache::unlist(entry& e) noexcept {
  if (e.state != entry::state_t::listed) return;
  e.state = entry::state_t::unlisted;
  index_.erase(e.from.get(), e);
}

/// It is cleared_away(): open to nobody, and used by nobody.
void registration_cache::clear(entry& e) noexcept {
  static_cast<void>(e.word.end());  // may have been joinable
  unlist(e);
  device_.deregister(e.handle);
  registered_bytes_ -= e.bytes.get();
  e.bytes.set(0);
  e.state = entry::state_t::free;
  free_.push_back(&e);
}

void registration_cache::tidy() noexcept {
  if (sync::forked()) return;
  untidy_.set();
  const std::scoped_lock lock(mutex_);
  sweep();
}

void registration_cache::flush() noexcept {
  if (sync::forked()) return;
  const std::scoped_lock lock(mutex_);
  sweep();
  for (entry& e : used_entries())
    if (e.state == entry::state_t::listed && e.word.end_unused() && e.word.cleared_away()) clear(e);
}

// --- changes of memory -----------------------------------------------------------------

void registration_cache::invalidate(std::span<const std::byte> memory) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(memory.data());
  changes_.begin(from, from + memory.size());
  const bool any = forget(from, from + memory.size());
  changes_.end();
  if (any) tidy();
}

bool registration_cache::forget(std::uintptr_t from, std::uintptr_t to) noexcept {
  bool any = false;
  for (entry& e : used_entries()) {
    // Live first: then the rest is complete, or of an entry whose maker will see this change.
    if (!e.word.is_live() || !overlap(extent(e), {from, to})) continue;
    if (!e.word.end()) continue;
    invalidations_.next();
    any = true;
  }
  if (any) untidy_.set();
  return any;
}

void registration_cache::collect() noexcept {
  if (sync::forked()) return;
  const std::scoped_lock lock(mutex_);
  sweep();
}

// --- looking ---------------------------------------------------------------------------

std::span<registration_cache::entry> registration_cache::used_entries() const noexcept {
  return {entries_.get(), static_cast<std::size_t>(used_.get())};
}

registration_cache::range registration_cache::extent(const entry& e) noexcept {
  const std::uintptr_t from = e.from.get();
  return {from, from + e.bytes.get()};
}

bool registration_cache::overlap(range a, range b) noexcept {
  return a.from < b.to && b.from < a.to;
}

cache_counters registration_cache::counters() const noexcept {
  cache_counters sums;
  for (const entry& e : used_entries()) sums.hits += e.word.times_entered();
  sums.misses = misses_.get();
  sums.evictions = evictions_.get();
  sums.invalidations = invalidations_.get();
  sums.refused = refused_.get();
  return sums;
}

}  // namespace heddle::memory
