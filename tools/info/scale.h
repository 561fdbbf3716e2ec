// SPDX-License-Identifier: BSD-3-Clause
// scale.h - `heddle info --scale N`: what joining a job of N ranks costs one of them.
#pragma once
#include <cstdint>

#include "info/scale_model.h"
#include "info/scale_neighbours.h"
#include "info/scale_zero.h"

namespace heddle::tools {

/// One for each core of a large node.
inline constexpr int many_lanes = 48;

/// What docs/design/joining.md promises: bytes of an idle peer in a process, and of an active one
/// on each lane, besides the memory that its messages travel through.
inline constexpr int idle_peer_limit = 64, active_peer_limit = 4096;

/// Of one rank, from the launcher's start to its world.
struct join_cost {
  store_traffic launcher;
  std::uint64_t host_messages = 0, host_bytes = 0;  ///< with ranks of its host, both ways
  std::int64_t most_bytes = 0;                      ///< of memory at any time
  std::int64_t kept_bytes = 0;                      ///< of memory once there is a world
  std::int64_t kept_by_lanes = 0;                   ///< of memory once it has many_lanes of them
  double idle_peer = 0, idle_peer_by_lanes = 0;     ///< bytes of these that one more rank adds
  std::int64_t table_bytes = 0;  ///< the largest of those that ranks of the host share meanwhile
  double seconds = 0;
};

/// Makes the world of the rank that leads job.measured_host: real code, over devices of this host,
/// with a model of its launcher and of all ranks of other hosts. Starts processes; for programs
/// with one thread. Throws error.
[[nodiscard]] join_cost measure_leader(const scale_job& job);
/// The same for the last rank of that host, which another one leads; per_host is 2 at least.
[[nodiscard]] join_cost measure_member(const scale_job& job);

/// What the leader of job.measured_host says to rank 0, and hears of it, where there is no
/// launcher: the real code for all ranks of that host, of which one makes its world. The job has 2
/// ranks at least. Starts processes; for programs with one thread. Throws error.
[[nodiscard]] meeting_point_traffic measure_meeting_point(const scale_job& job);

/// Prints these of several ranks as a table, or as a JSON object. Throws error.
void print_scale(const scale_job& job, bool as_data);

}  // namespace heddle::tools
