// SPDX-License-Identifier: BSD-3-Clause
// regions.h - peers' regions as a lane reaches them: fetched from the peer's table on first use.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/verbs/peers.h"
#include "backends/verbs/slots.h"

namespace heddle::transport::verbs {

class regions {
 public:
  explicit regions(slots& through) : slots_(through) {}

  /// The region of `o`, which is not one of those used last. done: `out` is it. busy_queue: it is
  /// being fetched. withdrawn: it is not there. Throws std::bad_alloc.
  [[nodiscard, gnu::noinline]] status look_up(peer_lane& p, const op& o, peer_region*& out);
  /// The read of an entry has ended; its bytes, or nothing where it did not succeed.
  static void on_entry(peer_process& p, const std::byte* entry) noexcept;
  /// One was not where it had been: nothing that was fetched of this peer counts any more.
  static void distrust(peer_process& p) noexcept;

 private:
  static status accept(peer_region& r, const region_place& where) noexcept;
  void fetch(peer_lane& p, peer_region& r) noexcept;

  slots& slots_;
};

}  // namespace heddle::transport::verbs
