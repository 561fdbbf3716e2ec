// SPDX-License-Identifier: BSD-3-Clause
// world_memory.h - memory of this rank that peers may address, and memory of peers.
#pragma once
#include <heddle/detail/direct.h>
#include <heddle/detail/signal.h>
#include <heddle/memory.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "engine/network.h"
#include "memory/region_table.h"
#include "memory/remote_memory.h"
#include "memory/segment.h"
#include "sync/release_acquire.h"

namespace heddle::engine {

/// A rank's part of memory that all ranks have exposed together.
struct exposed_part {
  memory::region_ref ref;
  std::uint64_t bytes = 0;
};

/// One per world. Any thread.
class world_memory {
 public:
  /// Memory that peers may address from now on, and what names it to them.
  struct exposed {
    std::span<std::byte> memory;
    key of;
  };

  /// `table` and `net` must outlive it.
  world_memory(memory::region_table& table, const network& net, rank self, int size) noexcept
      : table_(table), net_(net), self_(self), size_(size) {}

  /// Throws error: all regions are in use.
  [[nodiscard]] exposed expose(std::span<std::byte> memory, rights allowed);
  /// Memory of Heddle's own, until it is withdrawn. Throws error: also where there is no memory.
  [[nodiscard]] exposed allocate(std::size_t bytes, rights allowed);
  /// `memory` is that of the region. Peers that have used it get nothing more of it.
  void withdraw(memory::region_ref which, std::span<std::byte> memory) noexcept;

  /// The first number from this one on that a symmetric array can have here. Throws error: too many
  /// are alive.
  [[nodiscard]] std::uint64_t next_symmetric(std::uint64_t from) const;
  /// This rank's part of symmetric array `number`, which next_symmetric() has said. Throws error:
  /// no memory.
  [[nodiscard]] std::span<std::byte> add_symmetric(std::uint64_t number, std::uint64_t bytes,
                                                   rights allowed);

  /// Throws error: no key of this world, or a region that cannot exist.
  [[nodiscard]] std::shared_ptr<memory::remote_memory> import(const key& of_peer);
  /// Never throws error: what cannot be mapped is reached by the engine.
  [[nodiscard]] std::unique_ptr<memory::remote_memory> import_symmetric(rank peer,
                                                                        const exposed_part& part,
                                                                        rights allowed);

  /// The world ends: plain instructions reach no peer's memory any more, and nothing is mapped.
  void end() noexcept;

 private:
  /// What Heddle allocated. Who has imported it here keeps it, as a mapping of a peer's is kept.
  struct own_memory {
    memory::segment memory;
    memory::local_region region;
    detail::live_word live;
  };
  [[nodiscard]] memory::segment make_segment(const char* name, std::size_t bytes,
                                             rights allowed) const;
  [[nodiscard]] exposed tell_devices(const memory::local_region& r, std::span<std::byte> memory,
                                     rights allowed) const;
  void map(memory::remote_memory& made, std::uint64_t bytes, rights allowed);
  [[nodiscard]] std::shared_ptr<void> find_own(memory::region_ref which,
                                               detail::remote_target& out);
  [[nodiscard]] rights rights_here(rank owner, const detail::remote_target& t) const noexcept;
  void keep(const memory::local_region& region, memory::segment segment);

  memory::region_table& table_;
  const network& net_;
  const rank self_;
  const int size_;
  const std::shared_ptr<memory::imported_memory> imported_ =
      std::make_shared<memory::imported_memory>();
  sync::release_acquire_flag ended_;
  std::mutex mutex_;
  // By slot and generation. Guarded by mutex_.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<own_memory>> owned_;
};

}  // namespace heddle::engine
