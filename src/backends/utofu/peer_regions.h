// SPDX-License-Identifier: BSD-3-Clause
// peer_regions.h - peers' regions as a lane reaches them: their addresses computed, or fetched from
// the peer's table on first use.
#pragma once
#include <cstdint>

#include "backends/utofu/peers.h"
#include "backends/utofu/work_queue.h"

namespace heddle::transport::utofu {

class peer_regions {
 public:
  peer_regions(utofu_device& device, int lane, work_queue& queue, peers& known)
      : device_(device), lane_(lane), queue_(queue), peers_(known) {}

  /// done: `out` is it. busy_queue: it is being fetched. withdrawn: it is not there. Throws
  /// std::bad_alloc.
  [[nodiscard]] status find(peer_state& p, memory::region_ref ref, peer_region*& out) {
    out = p.regions.find_recent(ref);
    return out != nullptr ? status::done : look_up(p, ref, out);
  }
  /// The queue and the address for atomics on the word at this offset. Throws std::bad_alloc.
  [[nodiscard]] way atomic_way(peer_state& p, peer_region& r, std::uint64_t offset) {
    if (r.tag != 0) return common_atomic_way(p, r, offset);
    return {r.to.via, r.to.address + offset};
  }
  /// The queue that messages to this lane go to, and the region's address there. Without a queue:
  /// the region is not registered on it, or no message can go yet, or none with a notice.
  [[nodiscard]] static way message_way(const peer_state& p, peer_region& r) noexcept;
  /// The get of an entry has ended.
  void on_entry(peer_state& p) noexcept;
  /// One was not where it had been: nothing that was fetched of this peer counts any more.
  static void distrust(peer_state& p) noexcept;

 private:
  [[nodiscard, gnu::noinline]] status look_up(peer_state& p, memory::region_ref ref,
                                              peer_region*& out);
  void compute(peer_state& p, peer_region& r);
  void fetch(peer_state& p, peer_region& r);
  [[nodiscard, gnu::noinline]] way common_atomic_way(peer_state& p, peer_region& r,
                                                     std::uint64_t offset);

  utofu_device& device_;
  const int lane_;
  work_queue& queue_;
  peers& peers_;
};

}  // namespace heddle::transport::utofu
