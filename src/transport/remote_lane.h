// SPDX-License-Identifier: BSD-3-Clause
// remote_lane.h - one lane of a peer: where ops go, and where messages come from.
#pragma once
#include <heddle/types.h>

namespace heddle::transport {

/// One lane of one peer, as one endpoint reaches it. A backend derives its own from it, with what
/// it keeps of that lane; the endpoint owns it and finds it again by endpoint::reach().
struct remote_lane {
  remote_lane(rank who, int number) noexcept : peer(who), lane(number) {}
  remote_lane(const remote_lane&) = delete;
  remote_lane& operator=(const remote_lane&) = delete;

  const rank peer;
  const int lane;
  /// False: the peer has no lane of this number on this wire. Sends to it are unsupported; puts,
  /// gets and atomics, which no lane of the peer takes part in, may work all the same.
  bool listens = true;
  void* user = nullptr;  ///< the engine's

 protected:
  ~remote_lane() = default;
};

}  // namespace heddle::transport
