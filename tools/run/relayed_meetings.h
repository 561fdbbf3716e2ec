// SPDX-License-Identifier: BSD-3-Clause
// relayed_meetings.h - an agent's way to the meetings of its job, which are the launcher's.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/agent_protocol.h"
#include "run/meeting_place.h"
#include "run/meeting_rounds.h"

namespace heddle::tools {

/// One thread.
class relayed_meetings final : public meeting_place {
 public:
  using sender = std::function<void(const agent_protocol::message&)>;
  explicit relayed_meetings(sender up) : up_(std::move(up)) {}

  [[nodiscard]] std::optional<int> join(int rank) override;
  void begin(int rank, int round, std::uint64_t limit_ms) override;
  void joined(int rank) override;
  void call(int rank, int round, frame_kind what, blob payload) override;
  void abort(int rank, int status, const std::string& why) override;
  void leave(int rank, int round, const std::string& why) override;
  void end(int rank, const std::string& why) override;

  /// An agent's message as what it does to the job's own meetings; false when it is none of these,
  /// or makes no sense. The rank's number is the caller's to check.
  static bool apply(const agent_protocol::message& m, meeting_place& meetings);
  /// The replies in a message of the launcher's.
  static std::vector<meeting_rounds::reply> replies_in(const agent_protocol::message& m);
  /// The message that brings these replies, all of the same round and bytes, to their agent.
  static agent_protocol::message reply_to(const std::vector<meeting_rounds::reply>& replies);

 private:
  sender up_;
  std::map<int, int> joins_;  ///< by rank: how many so far
  std::set<int> present_;     ///< joined and not left
};

}  // namespace heddle::tools
