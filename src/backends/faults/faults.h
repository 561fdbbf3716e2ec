// faults.h - a wire that misbehaves by a seed: wraps any backend's device, for tests.
//
// Whatever the contract (src/transport) leaves open, a faulty endpoint makes use of: it takes short
// prefixes, holds operations and events back for some polls, lets them overtake each other where
// no order is promised, and frees the bytes of a message at the next poll. On demand it loses
// peers.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "transport/device.h"

namespace heddle::transport {

/// What goes wrong, and how often. Counted in calls, never in time: the same calls meet the same
/// faults.
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
};

/// Reads "seed=42,delay=3,reorder=30,busy=20,split=50,fail=1000,kill=2@500,map=off" in any order,
/// every item optional; `self` is mixed into the seed, so that the ranks of a job differ. This is
/// settings::faults. Throws error naming the bad item and what would be accepted.
[[nodiscard]] fault_plan parse_faults(const std::string& text, rank self);

/// A device that does what `inner` does, as badly as `plan` says and the contract allows.
[[nodiscard]] std::unique_ptr<device> make_faulty(std::unique_ptr<device> inner,
                                                  const fault_plan& plan);

}  // namespace heddle::transport
