// SPDX-License-Identifier: BSD-3-Clause
// scale_neighbours.h - the other ranks of the measured rank's host, in a process of their own.
#pragma once
#include <cstdint>
#include <string>

#include "info/scale_model.h"

namespace heddle::tools {

/// What ranks of one host have said to each other.
struct host_traffic {
  std::uint64_t to_leader = 0, from_leader = 0;  ///< messages
  std::uint64_t to_leader_bytes = 0, from_leader_bytes = 0;
};

/// All ranks of the measured host but its first, which leads them: the real members' part. Returns
/// when the leader's process has gone. Throws error.
[[nodiscard]] host_traffic follow(const scale_job& job, const std::string& name, lockstep& beside);

/// The first rank of the measured host, which leads the one that is measured. Returns when that
/// one's process has gone. Throws error.
void lead(const scale_job& job, const std::string& name, lockstep& beside);

}  // namespace heddle::tools
