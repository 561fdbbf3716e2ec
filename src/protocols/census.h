// SPDX-License-Identifier: BSD-3-Clause
// census.h - what a lane waits for and has counted, for people who ask.
#pragma once
#include <heddle/counters.h>

#include <cstdint>
#include <vector>

#include "protocols/matcher.h"
#include "protocols/operations.h"
#include "protocols/port_report.h"
#include "protocols/surroundings.h"

namespace heddle::protocols {

/// Changes nothing but since when each thing is known to wait. Threads: the holder of the lane, but
/// for its own counters.
class census {
 public:
  census(const surroundings& where, operations& ops, const peer_table& peers, matcher& matching,
         const port_counters& counters) noexcept
      : where_(where), ops_(ops), peers_(peers), matcher_(matching), counters_(counters) {}

  /// Every now and then: what is seen for the first time waits since now.
  void stamp(std::uint64_t now_ns);
  /// What waits. Slow: looks at all there is.
  [[nodiscard]] port_report report(std::uint64_t now_ns);
  /// Adds what is counted of each peer. Throws bad_alloc.
  void count(std::vector<peer_counters>& into) const;
  /// Any thread. Of the lane, as far as its protocols count.
  void count(lane_counters& into) const noexcept;

 private:
  const surroundings& where_;
  operations& ops_;
  const peer_table& peers_;
  matcher& matcher_;
  const port_counters& counters_;
};

}  // namespace heddle::protocols
