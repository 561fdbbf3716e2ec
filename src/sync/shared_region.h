// SPDX-License-Identifier: BSD-3-Clause
// shared_region.h - what a process tells its peers about one region, in memory they all map.
#pragma once
#include <heddle/detail/signal.h>
#include <heddle/types.h>

#include <atomic>
#include <cstdint>

#include "sync/cache_line.h"

namespace heddle::sync {

/// A region as its owner describes it. To a reader every field may be a lie.
struct region_facts {
  std::uint64_t address = 0;  ///< in the owner's address space
  std::uint64_t bytes = 0;
  rights allowed = rights::none;
  std::int32_t memfd = -1;  ///< in the owner's descriptor table; -1: other memory
};

/// One slot of the table in a control segment; zero-filled memory is an empty slot.
///
/// The state word is {generation, closing bit, users}. A peer that copies straight from or into the
/// owner's memory enters before and leaves after each piece, and learns then whether the region was
/// closed under it. The owner closes the slot and, when peers may write, waits for a bounded time
/// until nobody is inside. Publishing starts the count anew under another generation, so a user
/// that died inside cannot be counted twice.
class alignas(cache_line) shared_region {
 public:
  /// Owner. The slot is empty; `generation` is not 0 and not the one before.
  void publish(std::uint32_t generation, const region_facts& facts) noexcept {
    std::atomic_thread_fence(std::memory_order_release);  // F4 pairs with F3: cleared, then reused
    // Relaxed, all four: published by R1.
    address_.store(facts.address, std::memory_order_relaxed);
    bytes_.store(facts.bytes, std::memory_order_relaxed);
    allowed_.store(facts.allowed, std::memory_order_relaxed);
    memfd_.store(facts.memfd, std::memory_order_relaxed);
    state_.store(std::uint64_t{generation} << 32, std::memory_order_release);  // R1 pairs with A1
    live_.set(generation);
  }
  /// Owner. Lets nobody in from now on.
  void close() noexcept {
    live_.set(0);
    state_.fetch_or(closing, std::memory_order_relaxed);  // relaxed: A2 and F1 do the rest
    std::atomic_thread_fence(std::memory_order_release);  // F1 pairs with F2: closed, then reused
  }
  /// Owner: nobody writes here, so that those inside may be left to themselves.
  [[nodiscard]] bool only_read() const noexcept {
    return allowed_.load(std::memory_order_relaxed) == rights::read;  // relaxed: our own store
  }
  /// Owner, after close(): nobody is inside.
  [[nodiscard]] bool quiet() const noexcept {
    return (state_.load(std::memory_order_acquire) & users) == 0;  // A2 pairs with R2
  }
  /// Owner, after close().
  void clear() noexcept { state_.store(0, std::memory_order_release); }

  /// Peer. False: withdrawn or never there. True: `facts` is filled and leave() must follow.
  [[nodiscard]] bool try_enter(std::uint32_t generation, region_facts& facts) noexcept {
    std::uint64_t seen = state_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    do {
      if (generation == 0 || seen >> 32 != generation || (seen & closing) != 0) return false;
      if ((seen & users) == users) return false;
    } while (!state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed));  // A1 pairs with R1
    // Relaxed, all four: made visible by A1.
    facts.address = address_.load(std::memory_order_relaxed);
    facts.bytes = bytes_.load(std::memory_order_relaxed);
    facts.allowed = allowed_.load(std::memory_order_relaxed);
    facts.memfd = memfd_.load(std::memory_order_relaxed);
    // The owner may not have waited for us: then these may be facts of the slot's next region.
    std::atomic_thread_fence(std::memory_order_acquire);  // F3 pairs with F4
    return state_.load(std::memory_order_relaxed) >> 32 == generation;
  }
  /// Peer. False: withdrawn meanwhile; what was read may be what the owner wrote later.
  [[nodiscard]] bool leave(std::uint32_t generation) noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);  // F2 pairs with F1: read, then looked
    std::uint64_t seen = state_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    do {
      if (seen >> 32 != generation || (seen & users) == 0) return false;  // published anew
    } while (!state_.compare_exchange_weak(seen, seen - 1, std::memory_order_release,
                                           std::memory_order_relaxed));  // R2 pairs with A2
    return (seen & closing) == 0;
  }

  /// The word that direct operations check; a finder of the owner's death sets it to 0.
  [[nodiscard]] heddle::detail::live_word& live() noexcept { return live_; }

 private:
  static constexpr std::uint64_t closing = 1u << 31;
  static constexpr std::uint64_t users = closing - 1;

  heddle::detail::live_word live_;
  std::atomic<std::int32_t> memfd_;
  std::atomic<std::uint64_t> address_;
  std::atomic<std::uint64_t> bytes_;
  std::atomic<std::uint64_t> state_;
  std::atomic<rights> allowed_;
};

}  // namespace heddle::sync
