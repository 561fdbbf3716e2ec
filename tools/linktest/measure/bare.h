// SPDX-License-Identifier: BSD-3-Clause
// bare.h - what the same messages take without a link tester: the measure of its own cost.
#pragma once
#include <heddle/lane.h>

#include <cstdint>
#include <span>
#include <vector>

#include "linktest/measure/encounter.h"

namespace heddle::linktest {

/// Seconds per message, by size.
using bare_times = std::vector<double>;

/// A ping-pong of ranks 0 and 1 by the library's blocking send and recv, for each size: the median
/// of eleven times `messages` of them, after a few milliseconds untimed; fewer where that would
/// take longer than about a tenth of a second. All ranks call it at about the same time; only the
/// two have anything to do, and only rank 0 gets times, none when a message failed. A peer that
/// stops in the middle, without ending, holds it up until it goes on or ends.
[[nodiscard]] bare_times bare_ping_pong(lane& path, std::span<const std::uint64_t> sizes,
                                        std::uint64_t messages, const message_memory& memory);

}  // namespace heddle::linktest
