// SPDX-License-Identifier: BSD-3-Clause
// imported_regions.h - regions of peers that are mapped here, each once while it is in use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "backends/shm/peer_process.h"
#include "transport/device.h"

namespace heddle::transport::shm {

/// One thread at a time; mappings outlive this.
class imported_regions {
 public:
  /// As device::import(), of a peer that is not gone. nullptr: it is not memory that can be mapped.
  std::shared_ptr<void> import(const std::shared_ptr<peer_process>& peer, memory::region_ref region,
                               detail::remote_target& out);
  /// Direct operations on the peer's regions find them withdrawn from now on.
  void mark_lost(rank peer) noexcept;

 private:
  struct imported;
  using region_name = std::tuple<rank, std::uint32_t, std::uint32_t>;

  static std::shared_ptr<imported> map_region(const std::shared_ptr<peer_process>& peer,
                                              memory::region_ref region);
  void forget_unused();

  std::map<region_name, std::weak_ptr<imported>> known_;
  std::size_t forget_at_ = 64;
};

}  // namespace heddle::transport::shm
