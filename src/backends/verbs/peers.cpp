// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/peers.h"

#include <heddle/types.h>

#include <new>

#include "backends/verbs/device.h"

namespace heddle::transport::verbs {

peer_lane* peers::make(rank number, int lane) noexcept {
  if (lane < 0 || lane >= max_lanes) return nullptr;
  try {
    auto& process = processes_[number];
    if (process == nullptr) {
      const auto facts = device_.find_peer(number);
      if (!facts) {
        processes_.erase(number);
        return nullptr;
      }
      process = std::make_unique<peer_process>();
      process->facts = *facts;
    }
    all_.reserve(all_.size() + 1);
    peer_lane& made =
        known_.insert(number, lane, std::make_unique<peer_lane>(*process, number, lane));
    const auto stream = static_cast<std::uint32_t>(all_.size());
    made.out.name = work_id(work_id::kind_t::flight, 0, stream, 0);
    all_.push_back(&made);
    return &made;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace heddle::transport::verbs
