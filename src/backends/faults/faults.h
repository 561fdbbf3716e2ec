// SPDX-License-Identifier: BSD-3-Clause
// faults.h - a wire that misbehaves by a seed: wraps any backend's device, for tests.
//
// Whatever the contract (src/transport) leaves open, a faulty endpoint makes use of: it takes short
// prefixes, holds operations and events back for some polls, lets them overtake each other where
// no order is promised, and frees the bytes of a message at the next poll. On demand it loses
// peers.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/device.h"

namespace heddle::transport {

/// Data that takes longer than it should: one op after the other, each by so much.
struct late_way {
  rank from = -1, to = -1;  ///< -1: any
  int rail = -1;            ///< the how many-th device of its backend; -1: all
  std::chrono::microseconds by{0};
};

/// What goes wrong, and how often. Counted in calls and not in time, so that the same calls meet
/// the same faults; only `late` is a time, for tests that measure.
struct fault_plan {
  std::uint64_t seed = 1;
  unsigned delay = 0;    ///< an op or event is held back for 0 to this many polls
  unsigned reorder = 0;  ///< percent: chance that one is passed over, so that others overtake it
  unsigned busy = 0;     ///< percent: chance, before each op, that post answers busy_queue
  unsigned split = 0;    ///< percent: chance that a poll gives only some of what there is
  std::uint64_t fail_from =
      0;                      ///< this op of an endpoint and all later find their peer dead; 0: off
  rank kill = -1;             ///< this peer dies ...
  std::uint64_t kill_at = 0;  ///< ... at this op or message to or from it, counting from 1
  bool map = true;            ///< false: no region is mapped, every operation goes through post()
  std::vector<late_way> late;  ///< every way that fits an op adds to how late it is
  rank self = -1;              ///< whose endpoints these are
  int rail = 0;                ///< of this device, among those of its backend

  /// How late data from one rank to another is over this device. 0: not.
  [[nodiscard]] std::chrono::microseconds lateness(rank from, rank to) const noexcept;
};

/// Reads "seed=42,delay=3,reorder=30,busy=20,split=50,fail=1000,kill=2@500,map=off" in any order,
/// every item optional, and any number of late=WAY:MICROSECONDS, with the WAY 2 (all that rank 2
/// sends and receives), 2> (sends), >2 (receives), 1>2 (from 1 to 2), 1-2 (both ways), and /R
/// behind it for rail R only. All ranks get the same text. `self` is mixed into the seed, so that
/// the ranks of a job differ. This is settings::faults. Throws error naming the bad item and what
/// would be accepted.
[[nodiscard]] fault_plan parse_faults(const std::string& text, rank self);

/// A device that does what `inner` does, as badly as `plan` says and the contract allows.
[[nodiscard]] std::unique_ptr<device> make_faulty(std::unique_ptr<device> inner,
                                                  const fault_plan& plan);

}  // namespace heddle::transport
