// SPDX-License-Identifier: BSD-3-Clause
// peer_lane.h - what a lane keeps of one lane of a peer: how far they are connected.
#pragma once
#include <cstdint>

#include "transport/remote_lane.h"

namespace heddle::transport::tcp {

class connection;

struct peer_lane final : remote_lane {
  using remote_lane::remote_lane;
  enum class life : std::uint8_t {
    known,
    wanted,     ///< connecting was begun
    unreached,  ///< no way was found, and this was told: nothing goes to it, but if it finds one
                ///< itself, as behind a firewall, it is served
    ending,
    lost
  };
  life is = life::known;
  connection* out = nullptr;  // chosen, of a peer that lives; null: none
};

}  // namespace heddle::transport::tcp
