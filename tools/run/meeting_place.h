// SPDX-License-Identifier: BSD-3-Clause
// meeting_place.h - where the ranks of a host bring what they call: the job's own meetings, or the
// way to them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/launcher_protocol.h"

namespace heddle::tools {

/// One thread. Ranks are told apart by number, their n-th joins by round, from 0. Answers come
/// later, to whoever made the meeting place.
class meeting_place {
 public:
  using frame_kind = bootstrap::protocol::frame_kind;
  using blob = std::vector<std::byte>;

  virtual ~meeting_place() = default;

  /// The round this join belongs to; nothing when the rank's earlier join has not left.
  [[nodiscard]] virtual std::optional<int> join(int rank) = 0;
  /// The rank takes part in the job's start, and waits at most `limit_ms` in each meeting; 0:
  /// without limit.
  virtual void begin(int rank, int round, std::uint64_t limit_ms) = 0;
  /// The rank has made its world.
  virtual void joined(int rank) = 0;
  /// The rank calls exchange (with its blob) or barrier. It must not be waiting for one already.
  virtual void call(int rank, int round, frame_kind what, blob payload) = 0;
  /// The rank wants the job to end, with a status from 1 to 255, and all ranks with it.
  virtual void abort(int rank, int status, const std::string& why) = 0;
  /// The rank will call nothing more in this round.
  virtual void leave(int rank, int round, const std::string& why) = 0;
  /// The rank will call nothing more in any round.
  virtual void end(int rank, const std::string& why) = 0;
};

}  // namespace heddle::tools
