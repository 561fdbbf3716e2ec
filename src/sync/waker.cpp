// SPDX-License-Identifier: BSD-3-Clause
#include "sync/waker.h"

#include <heddle/detail/signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "base/of_this_thread.h"

namespace heddle {
namespace {

constexpr std::size_t max_wakers = detail::signal::several;

/// What a waker's id stands for.
struct place {
  /// The eventfd, plus one so that 0 means none. Never closed: a late wake must not write into
  /// whatever the descriptor's number names next, so a place keeps its eventfd for reuse.
  std::atomic<int> descriptor{0};
  /// What its thread sleeps on, or is about to; null: nothing.
  std::atomic<const detail::signal*> sleeps_on{nullptr};

  void wake() const noexcept {
    const int fd = descriptor.load(std::memory_order_acquire) - 1;  // A1 pairs with R1
    if (fd >= 0) eventfd_write(fd, 1);
  }
};
std::array<place, max_wakers> places;
// Behind them are those that no thread has had. Relaxed throughout: as place::sleeps_on, see S1,
// R2.
std::atomic<std::size_t> used_places = 1;
std::atomic<int> living = 0;  // relaxed throughout: a hint

/// Numbers that threads which have ended gave back, and then those never used.
struct number_pool {
  std::mutex mutex;
  std::vector<std::uint16_t> returned;

  std::uint16_t take() {
    const std::lock_guard lock(mutex);
    if (!returned.empty()) {
      const std::uint16_t id = returned.back();
      returned.pop_back();
      return id;
    }
    const std::size_t next = used_places.load(std::memory_order_relaxed);
    if (next == max_wakers) return 0;
    used_places.store(next + 1, std::memory_order_relaxed);
    return static_cast<std::uint16_t>(next);
  }
  void give_back(std::uint16_t id) {
    const std::lock_guard lock(mutex);
    returned.push_back(id);
  }
};

number_pool& numbers() {
  static auto* pool = new number_pool;  // outlives every thread's waker on purpose
  return *pool;
}

std::span<const place> all_places() noexcept {
  return std::span(places).first(used_places.load(std::memory_order_relaxed));
}

/// Sequentially consistent, S1: of two threads that leave a signal, one sees that both have.
bool is_slept_on(const detail::signal* on) noexcept {
  return std::ranges::any_of(all_places(), [on](const place& p) {
    return p.sleeps_on.load(std::memory_order_seq_cst) == on;
  });
}

}  // namespace

namespace detail {

void wake(const signal* on, std::uint16_t id) noexcept {
  if (id != signal::several) return places[id].wake();
  for (const place& p : all_places())
    if (p.sleeps_on.load(std::memory_order_relaxed) == on) p.wake();  // relaxed: see R2
}

/// Who sleeps alone is named. The lowest rarity serves all: what passes a multiple of 4^k passes
/// one of each lower power.
std::uint64_t signal::joined(std::uint64_t word, std::uint16_t waker,
                             std::uint64_t target) noexcept {
  const std::uint64_t count = word >> 16;
  const std::uint64_t left = target > count ? target - count : 1;
  // The largest k for which a multiple of 4^k lies before or at `target`.
  auto rarity = static_cast<std::uint64_t>(
      std::min((static_cast<int>(std::bit_width(left)) - 1) / 2, rarest));
  if ((word & waker_mask) != 0) {
    rarity = std::min(rarity, (word & watched) >> waker_bits);
    waker = several;
  }
  return (word & ~watched) | rarity << waker_bits | waker;
}

std::uint64_t signal::watch(std::uint16_t waker, std::uint64_t target) noexcept {
  if (waker == 0) return count();  // it cannot be woken: those who can stay watched
  places[waker].sleeps_on.store(this, std::memory_order_relaxed);  // R2 releases it
  std::uint64_t seen = word_.load(std::memory_order_relaxed);      // a guess; R2 checks it
  // R2 pairs with raise() and with A2, who then find this thread's place. It acquires as count().
  while (
      !word_.compare_exchange_weak(seen, joined(seen, waker, target), std::memory_order_acq_rel)) {
  }
  return seen >> 16;
}

void signal::unwatch(std::uint16_t waker) noexcept {
  if (waker == 0) return;
  places[waker].sleeps_on.store(nullptr, std::memory_order_seq_cst);  // S1
  std::uint64_t seen = word_.load(std::memory_order_relaxed);         // a guess; A2 checks it
  std::uint64_t name = 0;
  do {
    name = seen & waker_mask;
    if (name != waker && (name != several || is_slept_on(this))) return;
    // A2 pairs with R2.
  } while (!word_.compare_exchange_weak(seen, seen & ~watched, std::memory_order_acq_rel));
  if (name == several) wake(this, several);  // who came meanwhile, and is not named any more
}

}  // namespace detail

namespace sync {

const thread_waker& thread_waker::mine() {
  return of_this_thread<thread_waker>();
}

int thread_waker::threads() noexcept {
  return living.load(std::memory_order_relaxed);
}

thread_waker::thread_waker() : id_(numbers().take()) {
  living.fetch_add(1, std::memory_order_relaxed);
  if (id_ == 0) return;
  // Relaxed: the pool's lock orders it.
  fd_ = places[id_].descriptor.load(std::memory_order_relaxed) - 1;
  if (fd_ >= 0) {
    clear();
    return;
  }
  fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  places[id_].descriptor.store(fd_ + 1, std::memory_order_release);  // R1 pairs with A1 in wake()
}

thread_waker::~thread_waker() {
  living.fetch_sub(1, std::memory_order_relaxed);
  if (id_ != 0) numbers().give_back(id_);
}

void thread_waker::clear() const noexcept {
  eventfd_t count = 0;
  if (fd_ >= 0) eventfd_read(fd_, &count);
}

}  // namespace sync
}  // namespace heddle
