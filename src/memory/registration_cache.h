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
#include <mutex>
#include <span>
#include <utility>

#include "memory/address_range.h"
#include "memory/registrar.h"
#include "memory/registration_table.h"
#include "memory/unmap_monitor.h"
#include "sync/counters.h"
#include "sync/mapping_changes.h"
#include "sync/release_acquire.h"

namespace heddle::memory {

class registration_cache final : private unmap_listener {
  struct grip {
    registration* held = nullptr;
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
      if (registration* const mine = std::exchange(grip_.held, nullptr); mine != nullptr)
        leave(*mine);
    }

   private:
    friend registration_cache;
    explicit lease(grip got) noexcept : grip_(got) {}

    grip grip_;
  };

  /// What one thread acquired last from one cache: makes the same again cheaper.
  class hint {
    friend registration_cache;
    void set(address_range covered, std::uint64_t life, registration& e) noexcept {
      covered_ = covered;
      life_ = life;
      entry_ = &e;
    }
    address_range covered_{1, 0};  // nothing
    std::uint64_t life_ = 0;
    registration* entry_ = nullptr;
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
  struct made {
    failure code = failure::refused;
    registration* where = nullptr;  ///< null: nowhere, see code
  };

  grip grip_on(std::span<const std::byte> memory, hint& last) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    // Looks at the changes first: whoever is told of one must find what it ended ended.
    if (!last.covered_.covers(at, memory.size()) || !changes_.caught_up()) [[unlikely]]
      return search(at, memory.size(), &last);
    registration& e = *last.entry_;
    if (!e.word.try_enter()) [[unlikely]]
      return after_refusal(e, at, memory.size(), &last);
    if (e.life.get() != last.life_) [[unlikely]]
      return after_mistake(e, at, memory.size(), &last);
    return {&e, at - last.covered_.from};
  }
  static void leave(registration& e) noexcept {
    if (e.word.leave()) [[unlikely]]
      e.owner->tidy();
  }

  // `last` may be null: nobody wants to know.
  grip search(std::uintptr_t at, std::size_t bytes, hint* last) noexcept;
  grip after_refusal(registration& e, std::uintptr_t at, std::size_t bytes, hint* last) noexcept;
  grip after_mistake(registration& e, std::uintptr_t at, std::size_t bytes, hint* last) noexcept;
  grip search_or_make(std::uintptr_t at, std::size_t bytes, hint* last) noexcept;
  void tidy() noexcept;
  bool forget(std::uintptr_t from, std::uintptr_t to) noexcept override;
  void collect() noexcept override;

  // --- mutex_ is held --------------------------------------------------------------------
  static grip entered(registration& e, std::uintptr_t at, hint* last) noexcept;
  registration* find(std::uintptr_t at, std::size_t bytes) noexcept;
  made make(address_range exact) noexcept;
  made try_make(address_range pages, bool unwatched) noexcept;
  void publish(registration& e, bool watched, std::uint64_t then) noexcept;
  void sweep() noexcept;

  // Constant after construction.
  const std::size_t page_bytes_;  // of the device
  const std::size_t system_page_bytes_;
  unmap_monitor* monitor_;            // null: keeps nothing
  sync::mapping_changes<>& changes_;  // the monitor's, or own_changes_

  registration_table table_;           // changed, and its device called, under mutex_
  sync::release_acquire_flag untidy_;  // something has ended since the last sweep
  sync::shared_counter invalidations_, refused_;
  sync::mapping_changes<> own_changes_;
  std::mutex mutex_;
};

}  // namespace heddle::memory
