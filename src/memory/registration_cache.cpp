// SPDX-License-Identifier: BSD-3-Clause
// registration_cache.cpp - searching, making registrations under the mutex, and ending them.
#include "memory/registration_cache.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <limits>
#include <thread>

#include "base/checks.h"
#include "base/error.h"
#include "sync/fork.h"

namespace heddle::memory {
namespace {

std::size_t system_page() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t checked_page(std::size_t bytes) {
  if (!std::has_single_bit(bytes) || bytes < system_page())
    fail("registration cache: pages of {} bytes are none of this system", bytes);
  return bytes;
}

}  // namespace

registration_cache::registration_cache(registrar& device, unmap_monitor* monitor,
                                       const cache_limits& limits)
    : page_bytes_(checked_page(limits.page_bytes)),
      system_page_bytes_(system_page()),
      monitor_(monitor),
      changes_(monitor != nullptr ? monitor->changes() : own_changes_),
      table_(device, limits, this) {
  sync::watch_forks();
  if (monitor_ != nullptr && !monitor_->attach(*this)) monitor_ = nullptr;
}

registration_cache::~registration_cache() {
  if (sync::forked()) return;  // all of it is the parent's
  if (monitor_ != nullptr) monitor_->detach(*this);
  const std::scoped_lock lock(mutex_);
  for (registration& e : table_.used()) {
    if (e.state == registration::state_t::free) continue;
    static_cast<void>(e.word.end());
    check(e.word.cleared_away(), "a registration cache ended before its leases");
    table_.clear(e);
  }
}

// --- acquiring -------------------------------------------------------------------------

registration_cache::grip registration_cache::search(std::uintptr_t at, std::size_t bytes,
                                                    hint* last) noexcept {
  registration& e = table_.candidate(at);
  const std::uint64_t life = e.life.get();
  const address_range pages = e.pages();
  if (!pages.covers(at, bytes) || !changes_.caught_up()) [[unlikely]]
    return search_or_make(at, bytes, last);
  if (!e.word.try_enter()) [[unlikely]]
    return after_refusal(e, at, bytes, last);
  if (e.life.get() != life) [[unlikely]]  // then it may have covered something else
    return after_mistake(e, at, bytes, last);
  if (last != nullptr) last->set(pages, life, e);
  return {&e, at - pages.from};
}

// Apart, so that the path above saves no registers for them.

[[gnu::noinline]] registration_cache::grip registration_cache::after_refusal(registration& e,
                                                                             std::uintptr_t at,
                                                                             std::size_t bytes,
                                                                             hint* last) noexcept {
  if (e.word.withdraw()) tidy();
  return search_or_make(at, bytes, last);
}

[[gnu::noinline]] registration_cache::grip registration_cache::after_mistake(registration& e,
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
  if (bytes == 0 || room < bytes || room - bytes < 2 * page_bytes_ || sync::forked())
    return refused(failure::refused);
  const std::scoped_lock lock(mutex_);
  while (!changes_.caught_up()) std::this_thread::yield();  // its reader waits for nobody
  sweep();
  if (registration* const e = find(at, bytes); e != nullptr) return entered(*e, at, last);
  sweep();  // again: the search may have been the last to leave something
  const made m = make({at, at + bytes});
  return m.where != nullptr ? entered(*m.where, at, last) : refused(m.code);
}

registration_cache::grip registration_cache::entered(registration& e, std::uintptr_t at,
                                                     hint* last) noexcept {
  const address_range pages = e.pages();
  // What is not open need not be tried first.
  if (last != nullptr && e.word.is_open()) last->set(pages, e.life.get(), e);
  return {&e, at - pages.from};
}

/// One that may be shared, entered.
registration* registration_cache::find(std::uintptr_t at, std::size_t bytes) noexcept {
  for (registration& e : table_.used()) {
    if (e.state == registration::state_t::free || !e.pages().covers(at, bytes)) continue;
    if (e.word.try_enter()) return &e;
    if (e.word.withdraw()) untidy_.set();
    if (e.word.try_join()) return &e;
  }
  return nullptr;
}

// --- making ----------------------------------------------------------------------------

registration_cache::made registration_cache::make(address_range exact) noexcept {
  const address_range pages = exact.whole_pages(page_bytes_);
  const address_range least = exact.whole_pages(system_page_bytes_);
  const std::size_t page = pages.bytes() == least.bytes() ? page_bytes_ : system_page_bytes_;
  // The last two: where the same pages are held by a lease from before they changed.
  const std::array wishes{table_.with_neighbours(pages), pages, least,
                          address_range{least.from, least.to + page},
                          address_range{least.from - page, least.to}};
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

/// `unwatched`: make it even if changes of the memory would go unnoticed; it then ends with its
/// leases.
registration_cache::made registration_cache::try_make(address_range pages,
                                                      bool unwatched) noexcept {
  if (table_.has(pages)) return {failure::conflict, nullptr};
  if (!table_.make_room(pages.bytes())) return {failure::full, nullptr};
  const std::uint64_t then = changes_.number();
  const bool watched = monitor_ != nullptr && monitor_->watch(pages.from, pages.to);
  if (!watched && !unwatched && monitor_ != nullptr) return {failure::refused, nullptr};
  const auto [code, where] = table_.add(pages);
  if (code == registrar::answer::full) return {failure::full, nullptr};
  if (code == registrar::answer::refused) return {failure::refused, nullptr};
  publish(*where, watched, then);
  return {failure::none, where};
}

/// Not open before it is known that its memory has not changed: others would trust it.
void registration_cache::publish(registration& e, bool watched, std::uint64_t then) noexcept {
  e.word.publish();
  const address_range pages = e.pages();
  if (!changes_.untouched_since(then, pages.from, pages.to)) {
    // What was registered may be pages that are gone: it is for this lease alone.
    if (e.word.end()) invalidations_.next();
  } else if (watched && e.word.open()) {
    table_.list(e);
  }
}

// --- clearing away ---------------------------------------------------------------------

/// Of what has ended: hides it, and clears away what nobody uses.
void registration_cache::sweep() noexcept {
  while (untidy_.take()) {
    for (registration& e : table_.used()) {
      if (e.state == registration::state_t::free || e.word.is_open()) continue;
      table_.unlist(e);
      if (e.word.cleared_away()) table_.clear(e);
    }
  }
}

void registration_cache::tidy() noexcept {
  if (sync::forked()) return;
  untidy_.set();
  collect();
}

void registration_cache::flush() noexcept {
  if (sync::forked()) return;
  const std::scoped_lock lock(mutex_);
  sweep();
  for (registration& e : table_.used())
    if (e.state == registration::state_t::listed && e.word.end_unused() && e.word.cleared_away())
      table_.clear(e);
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
  for (registration& e : table_.used()) {
    // Live first: then the rest is complete, or of an entry whose maker will see this change.
    if (!e.word.is_live() || !e.pages().overlaps({from, to})) continue;
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

cache_counters registration_cache::counters() const noexcept {
  cache_counters sums = table_.counters();
  sums.invalidations = invalidations_.get();
  sums.refused = refused_.get();
  return sums;
}

}  // namespace heddle::memory
