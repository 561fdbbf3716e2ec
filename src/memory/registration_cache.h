// SPDX-License-Identifier: BSD-3-Clause
// registration_cache.h - keeps memory registered with one device for as long as it stays mapped.
//
// Registering costs microseconds to milliseconds, and a device's tables are small; programs send
// from the same buffers again and again. acquire() gives a lease on a registration that covers a
// range: mostly one that is there, found without a lock. Whatever the program does to its address
// space ends the registrations concerned (see unmap_monitor.h): they are never given out again, and
// are undone as soon as nobody has a lease on them.
// docs/design/registration_cache.md: the design, what it guarantees, and on what that rests.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "memory/unmap_monitor.h"
#include "sync/cache_line.h"
#include "sync/counters.h"
#include "sync/interval_index.h"
#include "sync/lease_word.h"
#include "sync/loose.h"
#include "sync/mapping_changes.h"
#include "sync/published.h"
#include "sync/shared_flag.h"

namespace heddle::memory {

/// Makes memory usable by one device: one completion queue of TofuD, a protection domain of verbs.
///
/// A cache calls it from one thread at a time, but from any: from whoever acquires or releases, and
/// from a thread of the monitor's. It may block, allocate, free and unmap, but not call the cache.
class registrar {
 public:
  enum class answer : std::uint8_t {
    done,
    full,     ///< no room: may succeed once something else was deregistered
    refused,  ///< not this memory: not mapped, not writable, too large
  };
  struct registered {
    answer code = answer::refused;
    std::uint64_t handle = 0;  ///< done: names the registration from now on
  };
  /// `pages`: whole pages. This cache has no other registration of exactly the same.
  virtual registered register_memory(std::span<std::byte> pages) noexcept = 0;
  /// The memory may have been unmapped meanwhile.
  virtual void deregister(std::uint64_t handle) noexcept = 0;

 protected:
  ~registrar() = default;
};

/// What a cache may keep. Leases may need more bytes than these, but never more entries.
struct cache_limits {
  std::size_t page_bytes = 64 * 1024;  ///< of the device; a power of two, at least the system's
  std::size_t entries = 1024;          ///< registrations at one time; 1 to 16384
  std::size_t bytes = 0;               ///< registered at one time; 0: no limit
};

/// Sums since the cache was made. Exact when nobody is at work.
struct cache_counters {
  std::uint64_t hits = 0;           ///< leases on a registration that was there
  std::uint64_t misses = 0;         ///< registrations made
  std::uint64_t evictions = 0;      ///< of these, undone to make room
  std::uint64_t invalidations = 0;  ///< of these, ended because their memory changed
  std::uint64_t refused = 0;        ///< calls of acquire() that got no lease
};

class registration_cache final : private unmap_listener {
  struct alignas(sync::cache_line) entry {
    sync::lease_word<> word;
    // Change while nobody is inside and nobody can come in. `handle` is for those inside; the
    // others are looked at from outside, by whoever searches or tells of a change.
    std::uint64_t handle = 0;
    sync::loose<std::uintptr_t> from;
    sync::loose<std::size_t> bytes;
    // Differs from every other one's and every earlier one's, and is set last: who finds the same
    // before and after looking at the others has seen those of that life.
    sync::published<std::uint64_t> life;
    registration_cache* owner = nullptr;  // constant
    // Guarded by mutex_.
    std::uint64_t last_use = 0;     // in lives, as make_room() found it
    std::uint64_t uses_before = 0;  // times entered when it found that
    enum class state_t : std::uint8_t { free, listed, unlisted } state = state_t::free;
  };
  struct grip {
    entry* held = nullptr;
    std::size_t offset = 0;  // of what was asked for; null: why there is none
  };

 public:
  /// With a monitor, registrations are kept until their memory changes or room is needed. Without
  /// (null), each is undone when its last lease is released. Throws error: bad limits, no memory.
  registration_cache(registrar& device, unmap_monitor* monitor, const cache_limits& limits = {});
  /// Undoes everything. No lease may be left, and nobody may be inside.
  ~registration_cache();
  registration_cache(const registration_cache&) = delete;
  registration_cache& operator=(const registration_cache&) = delete;

  enum class failure : std::uint8_t {
    none,
    refused,   ///< the device does not take this memory, or it is empty: copy it
    full,      ///< whatever could be evicted is leased: release some and ask again, or copy
    conflict,  ///< the same pages are still leased from before they changed: release that, or copy
  };

  /// Keeps a registration in place until released or destroyed. One thread at a time.
  class lease {
   public:
    lease() = default;
    lease(lease&& other) noexcept : grip_(std::exchange(other.grip_, {})) {}
    lease& operator=(lease&& other) noexcept {
      std::swap(grip_, other.grip_);
      return *this;
    }
    ~lease() { release(); }

    /// False: there is none, see why().
    [[nodiscard]] explicit operator bool() const noexcept { return grip_.held != nullptr; }
    [[nodiscard]] failure why() const noexcept {
      return grip_.held != nullptr ? failure::none : static_cast<failure>(grip_.offset);
    }
    /// The registration's, and where in it the range begins that was asked for.
    [[nodiscard]] std::uint64_t handle() const noexcept { return grip_.held->handle; }
    [[nodiscard]] std::size_t offset() const noexcept { return grip_.offset; }
    /// The device is done with the range. Lock-free, unless it was the last one on a registration
    /// that has ended, which is then undone.
    void release() noexcept {
      if (entry* const mine = std::exchange(grip_.held, nullptr); mine != nullptr) leave(*mine);
    }

   private:
    friend registration_cache;
    explicit lease(grip got) noexcept : grip_(got) {}

    grip grip_;
  };

  /// What one thread acquired last from one cache: makes the same again cheaper.
  class hint {
    friend registration_cache;
    void set(std::uintptr_t from, std::uintptr_t to, std::uint64_t life, entry& e) noexcept {
      from_ = from;
      to_ = to;
      life_ = life;
      entry_ = &e;
    }
    std::uintptr_t from_ = 1, to_ = 0;  // covers nothing
    std::uint64_t life_ = 0;
    entry* entry_ = nullptr;
  };

  /// A registration that covers `memory`, which stays mapped meanwhile. Any thread. Lock-free when
  /// there is one; registering may block and allocate.
  [[nodiscard]] lease acquire(std::span<const std::byte> memory, hint& last) noexcept {
    return lease(grip_on(memory, last));
  }
  [[nodiscard]] lease acquire(std::span<const std::byte> memory) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    return lease(search(at, memory.size(), nullptr));
  }

  /// Ends what overlaps `memory`, and undoes what of that is not leased. Any thread, but not from
  /// inside the registrar or an allocator.
  void invalidate(std::span<const std::byte> memory) noexcept;
  /// Undoes whatever is not leased. As invalidate().
  void flush() noexcept;

  /// Any thread.
  [[nodiscard]] cache_counters counters() const noexcept;

 private:
  struct range {
    std::uintptr_t from = 0, to = 0;
    [[nodiscard]] std::size_t bytes() const noexcept { return to - from; }
    [[nodiscard]] std::span<std::byte> memory() const noexcept {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): rounded to pages as a number
      return {reinterpret_cast<std::byte*>(from), bytes()};
    }
    friend bool operator==(const range&, const range&) = default;
  };
  struct made {
    failure code = failure::refused;
    entry* where = nullptr;  ///< null: nowhere, see code
  };

  [[nodiscard]] static bool covers(std::uintptr_t from, std::uintptr_t to, std::uintptr_t at,
                                   std::size_t bytes) noexcept {
    return at >= from && at <= to && bytes <= to - at;
  }
  grip grip_on(std::span<const std::byte> memory, hint& last) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    // Looks at the changes first: whoever is told of one must find what it ended ended.
    if (!covers(last.from_, last.to_, at, memory.size()) || !changes_.caught_up()) [[unlikely]]
      return search(at, memory.size(), &last);
    entry& e = *last.entry_;
    if (!e.word.try_enter()) [[unlikely]]
      return after_refusal(e, at, memory.size(), &last);
    if (e.life.get() != last.life_) [[unlikely]]
      return after_mistake(e, at, memory.size(), &last);
    return {&e, at - last.from_};
  }
  static void leave(entry& e) noexcept {
    if (e.word.leave()) [[unlikely]]
      e.owner->tidy();
  }

  // `last` may be null: nobody wants to know.
  grip search(std::uintptr_t at, std::size_t bytes, hint* last) noexcept;
  grip after_refusal(entry& e, std::uintptr_t at, std::size_t bytes, hint* last) noexcept;
  grip after_mistake(entry& e, std::uintptr_t at, std::size_t bytes, hint* last) noexcept;
  grip search_or_make(std::uintptr_t at, std::size_t bytes, hint* last) noexcept;
  void tidy() noexcept;
  bool forget(std::uintptr_t from, std::uintptr_t to) noexcept override;
  void collect() noexcept override;
  [[nodiscard]] std::span<entry> used_entries() const noexcept;
  [[nodiscard]] static range extent(const entry& e) noexcept;
  [[nodiscard]] static bool overlap(range a, range b) noexcept;
  [[nodiscard]] static range whole_pages(range exact, std::size_t page_bytes) noexcept;

  // --- mutex_ is held --------------------------------------------------------------------
  grip entered(entry& e, std::uintptr_t at, hint* last) const noexcept;
  entry* find(std::uintptr_t at, std::size_t bytes) noexcept;
  [[nodiscard]] range with_neighbours(range pages) const noexcept;
  made make(range exact) noexcept;
  [[nodiscard]] bool is_taken(range pages) const noexcept;
  made try_make(range pages, bool unwatched) noexcept;
  entry& fill(range pages, std::uint64_t handle) noexcept;
  void publish(entry& e, bool watched, std::uint64_t then) noexcept;
  void supersede_inside(range pages, const entry& newer) noexcept;
  bool make_room(std::size_t bytes) noexcept;
  bool evict_one() noexcept;
  void sweep() noexcept;
  void unlist(entry& e) noexcept;
  void clear(entry& e) noexcept;

  // Constant after construction.
  registrar& device_;
  const cache_limits limits_;
  const std::size_t system_page_bytes_;
  unmap_monitor* monitor_;            // null: keeps nothing
  sync::mapping_changes<>& changes_;  // the monitor's, or own_changes_
  const std::unique_ptr<entry[]> entries_;

  sync::interval_index<entry> index_;  // of open entries, and some ended; written under mutex_
  sync::event_bit untidy_;             // something has ended since the last sweep
  sync::agreed_count used_;            // entries beyond have never been used
  sync::shared_counter invalidations_, refused_;
  sync::owned_counter misses_, evictions_;  // counted under mutex_
  sync::mapping_changes<> own_changes_;

  std::mutex mutex_;  // guards what follows and all calls of the device
  std::vector<entry*> free_;
  std::size_t registered_bytes_ = 0;
  std::uint64_t last_life_ = 0;
};

}  // namespace heddle::memory
