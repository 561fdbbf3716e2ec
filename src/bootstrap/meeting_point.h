// SPDX-License-Identifier: BSD-3-Clause
// meeting_point.h - a job without a launcher: its ranks meet at the address of rank 0.
//
// For containers and batch systems that start processes and no more. Rank 0 listens at the port of
// HEDDLE_RENDEZVOUS until all have joined. The other ranks of a host form a circle (host_circle.h),
// whose leader connects to rank 0 and goes on trying until it is there. Links to rank 0 are sealed
// by the secret of HEDDLE_SECRET_FILE (sealed_link.h):
//
//   leader  join {size, ranks} ...                exchange {gifts}      failed {why}
//   rank 0  welcome             starting (all)    everything {table}    failed {why}
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "bootstrap/bootstrap.h"

namespace heddle::bootstrap {

inline constexpr const char* meeting_point_variable = "HEDDLE_RENDEZVOUS";

/// What a rank needs to know to meet the others.
struct meeting_point {
  std::string host;  ///< of rank 0: a name or an address
  std::string port;
  int rank = 0;
  int size = 1;
  secret_bytes secret{};  ///< the same for all
};

/// Reads HEDDLE_RENDEZVOUS (host:port, [v6 address]:port), HEDDLE_RANK, HEDDLE_SIZE and
/// HEDDLE_SECRET_FILE. Throws error with the cure: one is missing or cannot be right.
[[nodiscard]] meeting_point place_from_environment();

/// Collective among the ranks of `where`. `limit_ms` is join()'s. Throws error: nobody listens or
/// who does does not know the secret; ranks are missing, and which; two processes have one rank.
/// The session is for joining only: see session::meets_after_joining().
[[nodiscard]] std::unique_ptr<session> join_at_meeting_point(const meeting_point& where,
                                                             std::uint64_t limit_ms);

/// As place_from_environment() says.
[[nodiscard]] std::unique_ptr<session> join_at_meeting_point(std::uint64_t limit_ms);

}  // namespace heddle::bootstrap
