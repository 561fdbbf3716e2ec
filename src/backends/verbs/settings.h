// SPDX-License-Identifier: BSD-3-Clause
// settings.h - what users may choose of InfiniBand and RoCE.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "base/settings.h"

namespace heddle::transport::verbs {

inline constexpr setting device_names =
    text_setting("HEDDLE_VERBS_DEVICES", "",
                 "network cards to use, as mlx5_0,mlx5_1:2 (a card, or one port of it); empty: "
                 "every port that is up");
inline constexpr setting gid_row = number_setting(
    "HEDDLE_VERBS_GID_INDEX", "255",
    "row of the port's GID table that names this end of a RoCE link; 255: the first RoCE v2 one", 0,
    255);
inline constexpr setting mtu_bytes = number_setting(
    "HEDDLE_VERBS_MTU", "0", "bytes of a packet at most; 0: what both ports have", 0, 4096);
inline constexpr setting level = number_setting(
    "HEDDLE_VERBS_SL", "0", "service level (InfiniBand) or priority (RoCE) of all traffic", 0, 15);
inline constexpr setting partition =
    number_setting("HEDDLE_VERBS_PKEY_INDEX", "0", "row of the port's partition table", 0, 65535);
inline constexpr setting ack_timeout = number_setting(
    "HEDDLE_VERBS_TIMEOUT", "14",
    "a packet without an answer is sent again after 4.096 us times 2 to this power", 1, 31);
inline constexpr setting resends =
    number_setting("HEDDLE_VERBS_RETRIES", "7", "so often, before the peer is lost", 0, 7);
inline constexpr setting put_end =
    choice_setting("HEDDLE_VERBS_PUT_ENDS", "acknowledged",
                   "when a put is over: the peer's card has it, which is what other libraries go "
                   "by; or the peer's "
                   "memory shows it for certain, which takes a read behind each list of puts",
                   "acknowledged | visible");
inline constexpr setting queue_depth = number_setting(
    "HEDDLE_VERBS_DEPTH", "64", "operations under way to one lane of a peer", 16, 4096);
inline constexpr setting receive_buffers =
    number_setting("HEDDLE_VERBS_RECEIVES", "512",
                   "buffers of a lane for messages from all its peers, 4 KiB each", 64, 32768);

inline constexpr std::array own_settings{device_names, gid_row,        mtu_bytes, level,
                                         partition,    ack_timeout,    resends,   put_end,
                                         queue_depth,  receive_buffers};

/// What they say.
struct options {
  explicit options(const settings& config)
      : devices(text_of(device_names, config)),
        gid_index(number_of(gid_row, config)),
        mtu(number_of(mtu_bytes, config)),
        sl(static_cast<std::uint8_t>(number_of(level, config))),
        pkey_index(static_cast<std::uint16_t>(number_of(partition, config))),
        timeout(static_cast<std::uint8_t>(number_of(ack_timeout, config))),
        retries(static_cast<std::uint8_t>(number_of(resends, config))),
        visible_puts(text_of(put_end, config) == "visible"),
        depth(static_cast<std::uint32_t>(number_of(queue_depth, config))),
        receives(static_cast<std::uint32_t>(number_of(receive_buffers, config))) {}

  std::string devices;
  std::uint64_t gid_index, mtu;
  std::uint8_t sl;
  std::uint16_t pkey_index;
  std::uint8_t timeout, retries;
  bool visible_puts;
  std::uint32_t depth, receives;
};

}  // namespace heddle::transport::verbs
