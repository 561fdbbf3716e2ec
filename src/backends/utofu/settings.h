// SPDX-License-Identifier: BSD-3-Clause
// settings.h - what users may choose of Tofu.
#pragma once
#include <array>
#include <cstdint>

#include "base/settings.h"

namespace heddle::transport::utofu {

inline constexpr setting lane_count = number_setting(
    "HEDDLE_UTOFU_LANES", "0",
    "lanes of this process over Tofu; 0: up to 24, fewer with several ranks on a node", 0, 162);
inline constexpr setting own_cqs =
    number_setting("HEDDLE_UTOFU_CQS", "8",
                   "queues (CQs) of each TNI that lanes take for themselves; the rest is left to "
                   "MPI and shared lanes",
                   0, 12);
inline constexpr setting stage_size = bytes_setting(
    "HEDDLE_UTOFU_STAGE_BYTES", "512",
    "puts and gets up to this are copied through registered memory, longer ones registered", 32,
    64 * kib);
inline constexpr setting ring_size = bytes_setting(
    "HEDDLE_UTOFU_RING_BYTES", "64K",
    "size of a message ring over Tofu, per pair, lane and direction", 16 * kib, 2 * mib);
inline constexpr setting mrq_length = number_setting(
    "HEDDLE_UTOFU_MRQ", "2048",
    "notices that a receive queue (MRQ) surely holds; more than it does is fatal", 128, 2 * mib);

inline constexpr std::array own_settings{lane_count, own_cqs, stage_size, ring_size, mrq_length};

/// What they say.
struct options {
  explicit options(const settings& config)
      : lanes(number_of(lane_count, config)),
        cqs(number_of(own_cqs, config)),
        stage_bytes(number_of(stage_size, config)),
        ring_bytes(number_of(ring_size, config)),
        mrq(number_of(mrq_length, config)),
        peer_timeout_ns(config.peer_timeout_ms * 1'000'000) {}

  std::uint64_t lanes, cqs, stage_bytes, ring_bytes, mrq, peer_timeout_ns;
};

}  // namespace heddle::transport::utofu
