// SPDX-License-Identifier: BSD-3-Clause
// memory.h - memory that peers may address: regions, keys, and what an imported key gives.
#pragma once
#include <heddle/detail/direct.h>
#include <heddle/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace heddle {

namespace engine {
class world_core;
struct exposed_part;
}  // namespace engine

/// What a peer needs to address a region: opaque, constant size, free to copy and to send.
/// Valid until the region is withdrawn; using it later gives `withdrawn`, never a write elsewhere
/// (world::import may say so already).
struct key {
  std::array<std::byte, 48> bytes{};
  friend bool operator==(const key&, const key&) = default;
};

namespace detail {

/// In bytes. Where there can be no such offset: one that is out of every region's bounds, so that
/// the operation fails instead of reaching another item.
[[nodiscard]] constexpr std::uint64_t offset_of(std::uint64_t start_bytes, std::uint64_t items,
                                                std::uint64_t item_bytes) noexcept {
  std::uint64_t bytes = 0;
  const bool fits = !__builtin_mul_overflow(items, item_bytes, &bytes) &&
                    !__builtin_add_overflow(start_bytes, bytes, &bytes);
  return fits ? bytes : ~std::uint64_t{0};
}

}  // namespace detail

/// A place in a peer's memory: a region and an offset into it, never a bare pointer.
struct remote_address {
  const detail::remote_target* target = nullptr;
  std::uint64_t offset = 0;  ///< bytes

  [[nodiscard]] constexpr remote_address operator+(std::uint64_t bytes) const noexcept {
    return {target, detail::offset_of(offset, bytes, 1)};
  }
};

/// A remote_address that knows its type.
template <class T>
struct remote_ptr {
  static_assert(std::is_trivially_copyable_v<T>);
  remote_address address;
  operator remote_address() const noexcept { return address; }  // NOLINT: it is one
  [[nodiscard]] remote_ptr operator+(std::uint64_t items) const noexcept {
    return {{address.target, detail::offset_of(address.offset, items, sizeof(T))}};
  }
};

/// Local memory that peers may address, from world::expose() or world::allocate().
///
/// Destroying it withdraws it: peers' later operations fail with `withdrawn`. Memory given to
/// expose() stays the caller's and must outlive the region; memory from allocate() ends with it.
class region {
 public:
  region() = default;
  region(region&&) noexcept;
  region& operator=(region&&) noexcept;
  ~region();

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }
  /// Any thread; the same every time.
  [[nodiscard]] const heddle::key& key() const noexcept { return key_; }
  /// Ends peers' access now; memory from allocate() is given back, and memory() empty. Idempotent.
  /// Operations already under way may still finish.
  void withdraw() noexcept;

 private:
  friend class world;
  region(std::shared_ptr<engine::world_core> world, std::span<std::byte> memory,
         const heddle::key& of);
  std::shared_ptr<engine::world_core> world_;
  std::span<std::byte> memory_;
  heddle::key key_;
};

namespace detail {

/// A peer's region as it lies in this process; empty where it does not, or not any more.
inline std::span<std::byte> mapped_memory(const remote_target& t) noexcept {
  const bool mapped = t.mapped != rights::none && t.live->is(t.generation);
  return mapped ? std::span(t.direct, t.bytes) : std::span<std::byte>();
}

}  // namespace detail

/// A peer's region, from world::import(). Cheap to copy; copies are the same region.
/// Must outlive the operations that use it.
///
/// Where the peer is on this host, the wire to it maps memory and Heddle has allocated this one,
/// the program may use it without Heddle, by mapped_memory(): as memory that two processes share,
/// so that the usual rules hold. Plain loads and stores of one word by two processes at a time are
/// a race; std::atomic_ref with acquire and release orders what is around it, and so do messages,
/// notifications and barriers: what was stored before one is sent, or a barrier entered, is there
/// for whoever has received it or left. Heddle's fence and flush order its own operations only. CPU
/// atomics there are atomic with the atomics of lanes unless a network of the job does those by
/// itself.
class remote_region {
 public:
  remote_region() = default;
  [[nodiscard]] remote_address at(std::uint64_t offset_bytes) const noexcept {
    return {target_.get(), offset_bytes};
  }
  template <class T>
  [[nodiscard]] remote_ptr<T> at_item(std::uint64_t index) const noexcept {
    return {{target_.get(), detail::offset_of(0, index, sizeof(T))}};
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return target_->bytes; }
  [[nodiscard]] rank owner() const noexcept { return target_->owner; }
  /// What may be done with it, as far as that is known here.
  [[nodiscard]] rights allowed() const noexcept { return target_->allowed; }
  /// Whether operations on it are plain loads and stores of this process.
  [[nodiscard]] bool mapped() const noexcept { return target_->direct != nullptr; }
  /// The region as this process has it mapped, for loads and stores of its own; empty: it is not
  /// mapped, has no bytes, was withdrawn, or a world or a rank has ended. Stays mapped as long as a
  /// copy of this lives, whatever the owner does meanwhile: behind a withdrawal it is memory that
  /// nobody else looks at. What peers may only read is mapped so: a store to it ends the process.
  /// Any thread; no system call.
  [[nodiscard]] std::span<std::byte> mapped_memory() const noexcept {
    return detail::mapped_memory(*target_);
  }

 private:
  friend class world;
  std::shared_ptr<const detail::remote_target> target_;
};

namespace detail {

/// The untyped part of symmetric<T>: this rank's memory and, on first use, each peer's.
class symmetric_memory {
 public:
  /// Heddle's own memory, as much on every rank.
  symmetric_memory(std::shared_ptr<engine::world_core> world, std::uint64_t bytes, rights allowed);
  /// The program's memory: on each rank what it gives there.
  symmetric_memory(std::shared_ptr<engine::world_core> world, std::span<std::byte> mine,
                   rights allowed);
  ~symmetric_memory();
  symmetric_memory(const symmetric_memory&) = delete;
  symmetric_memory& operator=(const symmetric_memory&) = delete;

  [[nodiscard]] std::span<std::byte> local() const noexcept { return local_; }
  /// Of a peer's part; 0: there is no such rank.
  [[nodiscard]] std::uint64_t bytes(rank peer) const noexcept;
  /// A peer's part as it lies in this process; empty where it does not.
  [[nodiscard]] std::span<std::byte> mapped(rank peer) const;
  /// Any thread. The first call for a peer may make system calls, later ones are one load.
  [[nodiscard]] const remote_target* target(rank peer) const {
    if (static_cast<std::uint32_t>(peer) >= ranks_) return nullptr;
    const remote_target* known = targets_[static_cast<std::size_t>(peer)].load(
        std::memory_order_acquire);  // A1, see resolve()
    return known != nullptr ? known : resolve(peer);
  }

 private:
  struct parts;
  const remote_target* resolve(rank peer) const;
  std::shared_ptr<engine::world_core> world_;
  std::span<std::byte> local_;
  rights allowed_ = rights::none;
  std::uint32_t ranks_ = 0;
  std::uint64_t id_ = 0;
  std::unique_ptr<std::atomic<const remote_target*>[]> targets_;  // one word per rank
  std::unique_ptr<const engine::exposed_part[]> parts_;  // null: alike, their keys are computed
};

}  // namespace detail

/// An array with a part on every rank, addressable by all: the same everywhere and zero at first,
/// from world::symmetric<T>(n), whose keys are computed and not exchanged; or each rank's own
/// memory, from world::expose_symmetric(memory), which may differ in size.
///
/// Destroying it withdraws this rank's part only, so a barrier belongs before the end of its scope.
template <class T>
class symmetric {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  [[nodiscard]] std::span<T> local() const noexcept {
    return {reinterpret_cast<T*>(memory_->local().data()), items_};
  }
  /// Items of this rank's part.
  [[nodiscard]] std::size_t size() const noexcept { return items_; }
  /// Items of a peer's part; 0: there is no such rank.
  [[nodiscard]] std::size_t size(rank peer) const noexcept {
    return memory_->bytes(peer) / sizeof(T);
  }
  /// Where `peer` keeps item `index`. A peer or index out of range makes the operation fail.
  [[nodiscard]] remote_ptr<T> at(rank peer, std::uint64_t index = 0) const {
    return {{memory_->target(peer), detail::offset_of(0, index, sizeof(T))}};
  }
  /// The part of `peer` as this process has it mapped, for loads and stores of its own: see
  /// remote_region, also for who sees them when. This rank's own part always. Empty: it is not
  /// mapped (the program's memory never is), has no items, was withdrawn, or a world or a rank has
  /// ended. Stays mapped as long as this array lives here. Any thread; the first call for a peer
  /// may make system calls.
  [[nodiscard]] std::span<T> mapped_memory(rank peer) const {
    const std::span<std::byte> bytes = memory_->mapped(peer);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  friend class world;
  symmetric(std::unique_ptr<detail::symmetric_memory> memory, std::size_t items)
      : memory_(std::move(memory)), items_(items) {}
  std::unique_ptr<detail::symmetric_memory> memory_;
  std::size_t items_ = 0;
};

}  // namespace heddle
