// registration_cache.h - keeps memory registered with one device for as long as it stays mapped.
//
// Registering costs a device microseconds to milliseconds, and its tables are small; programs send
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

#include "memory/unmap_monitor.h"
#include "sync/counters.h"
#include "sync/interval_index.h"
#include "sync/lease_word.h"

namespace heddle::memory {

/// Makes memory usable by one device: one completion queue of TofuD, a protection domain of verbs.
///
/// A cache calls it from one thread at a time, but from any: from whoever acquires or releases, and
/// from a thread of the monitor's own. It may block, allocate and free.
class registrar {
 public:
  enum class answer : std::uint8_t {
    done,
    full,     ///< no room: may succeed once something else was deregistered
    refused,  ///< not this memory: not mapped, not writable, too large
  };
  struct registered {
    answer code = answer::refused;
    std::uint64_t handle = 0;  ///< done: names the registration; may be 0
  };
  /// `pages` is whole pages, and no other registration of this cache has the same ones.
  virtual registered register_memory(std::span<std::byte> pages) noexcept = 0;
  virtual void deregister(std::uint64_t handle) noexcept = 0;

 protected:
  ~registrar() = default;
};

/// What a cache is allowed. The bytes may be exceeded by what is leased at one time.
struct cache_limits {
  std::size_t page_bytes = 64 * 1024;  ///< what the device registers; a power of two, at least the
                                       ///< system's page
  std::size_t entries = 1024;          ///< registrations at one time, leased or not; 1 to 16384
  std::size_t bytes = 0;               ///< registered at one time; 0: no limit
};

/// Sums since the cache was made. Any thread may ask; they are exact when nobody is at work.
struct cache_counters {
  std::uint64_t hits = 0;           ///< leases on a registration that was there
  std::uint64_t misses = 0;         ///< registrations made
  std::uint64_t evictions = 0;      ///< undone to make room
  std::uint64_t invalidations = 0;  ///< ended because their memory changed
  std::uint64_t refused = 0;        ///< acquire() that failed
};

class registration_cache : private unmap_listener {
  struct entry;

 public:
  /// With a monitor, registrations are kept until their memory changes or there is no room. Without
  /// (null: HEDDLE_RCACHE=off, or nothing to be had), each is undone when its last lease is released.
  /// Both must outlive the cache. Throws error: bad limits.
  registration_cache(registrar& device, unmap_monitor* monitor, cache_limits limits = {});
  /// Undoes all registrations. No lease may be left.
  ~registration_cache();
  registration_cache(const registration_cache&) = delete;
  registration_cache& operator=(const registration_cache&) = delete;

  enum class failure : std::uint8_t {
    none,
    refused,   ///< the device does not take this memory, or it is empty: copy it instead
    full,      ///< everything that could be evicted is leased: release some and ask again
    conflict,  ///< an ended registration of the same pages is still leased: release that first
  };

  /// Keeps a registration in place until released or destroyed. Movable, for one thread at a time.
  class lease {
   public:
    lease() = default;
    lease(lease&& other) noexcept
        : entry_(std::exchange(other.entry_, nullptr)), offset_(other.offset_), why_(other.why_) {}
    lease& operator=(lease&& other) noexcept {
      std::swap(entry_, other.entry_);
      std::swap(offset_, other.offset_);
      std::swap(why_, other.why_);
      return *this;
    }
    ~lease() { release(); }

    /// False: there is none, see why().
    [[nodiscard]] explicit operator bool() const noexcept { return entry_ != nullptr; }
    [[nodiscard]] failure why() const noexcept { return why_; }
    /// Of the registration, and where in it the range begins that was asked for.
    [[nodiscard]] std::uint64_t handle() const noexcept;
    [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
    /// The device may no longer touch the range. Lock-free, unless the registration has ended.
    void release() noexcept;

   private:
    friend registration_cache;
    explicit lease(failure why) noexcept : why_(why) {}
    lease(entry& entered, std::size_t offset) noexcept : entry_(&entered), offset_(offset) {}

    entry* entry_ = nullptr;
    std::size_t offset_ = 0;
    failure why_ = failure::none;
  };

  /// What its owner, one thread, acquired last from one cache: makes the same again cheaper.
  class hint {
    friend registration_cache;
    entry* last_ = nullptr;
  };

  /// A registration that covers `memory`. Any thread. Lock-free when there is one; otherwise it
  /// registers, which may block and allocate. The memory must stay mapped during the call.
  [[nodiscard]] lease acquire(std::span<const std::byte> memory, hint& last) noexcept;
  [[nodiscard]] lease acquire(std::span<const std::byte> memory) noexcept;

  /// Ends what overlaps `memory`, and undoes what of that is not leased. Any thread, but not from
  /// inside the registrar or an allocator.
  void invalidate(std::span<const std::byte> memory) noexcept;
  /// Undoes everything that is not leased.
  void flush() noexcept;

  [[nodiscard]] cache_counters counters() const noexcept;

 private:
  // Defined in registration_cache.h's second half, registration_cache_path.h.
};

}  // namespace heddle::memory
