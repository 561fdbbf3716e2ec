// SPDX-License-Identifier: BSD-3-Clause
// scale_active.h - what a peer costs a rank on each lane that has something to do with it.
#pragma once
#include <array>

namespace heddle::tools {

/// Of one peer on one lane.
struct active_cost {
  double bytes = 0;  ///< besides what messages travel through
  /// That is mapped, or made in pieces of large_block or more (counted_memory.h): these.
  double ring_blocks = 0, ring_bytes = 0;
  int peers = 0;                ///< that it was measured with
  std::array<char, 32> wire{};  ///< what carries the messages, with a 0 behind
};

/// Makes a job on this host of real ranks, which send each other small and large messages on
/// several lanes. Starts processes; for programs with one thread. Throws error.
[[nodiscard]] active_cost measure_active();

}  // namespace heddle::tools
