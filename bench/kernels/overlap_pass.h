// SPDX-License-Identifier: BSD-3-Clause
// overlap_pass.h - how the overlap of one message with computing is timed, whoever moves it.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "harness/spec.h"

namespace heddle::bench {

/// One side's times of one iteration, medians of a round, in seconds.
struct side_times {
  double post = 0;     ///< the call that starts the transfer
  double compute = 0;  ///< what was computed meanwhile
  double wait = 0;     ///< until it was complete
  double total = 0;
};

/// One side's round: without computing, and with it.
struct side_round {
  side_times alone, together;
};

/// One of two that move one message at a time: the receive is always posted first.
class overlap_side {
 public:
  virtual ~overlap_side() = default;
  /// Not timed. The sender waits here until the partner's receive is posted.
  virtual void prepare() = 0;
  /// Starts the transfer; the receiver then tells the sender.
  virtual void post() = 0;
  /// Until it is complete.
  virtual void wait() = 0;
};

/// Messages in one pass, the same on both sides: half a round's time, at 1 GB/s and 20 us each.
[[nodiscard]] std::uint64_t overlap_iterations(const spec& s);

/// `count` messages with `seconds` of computing between post and wait; medians.
[[nodiscard]] side_times overlap_pass(overlap_side& side, std::uint64_t count, double seconds);

/// One side's round.
[[nodiscard]] side_round overlap_round(overlap_side& side, const spec& s, bool sends);

/// As metrics_of(s) says.
[[nodiscard]] std::vector<double> overlap_figures(const spec& s, const side_round& sender,
                                                  const side_round& receiver);

}  // namespace heddle::bench
