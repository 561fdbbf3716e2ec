// SPDX-License-Identifier: BSD-3-Clause
#include "run/relayed_meetings.h"

namespace heddle::tools {

using agent_protocol::bytes_of;
using agent_protocol::message;
using agent_protocol::message_kind;

std::optional<int> relayed_meetings::join(int rank) {
  if (!present_.insert(rank).second) return {};
  return joins_[rank]++;
}

void relayed_meetings::begin(int rank, int round, std::uint64_t limit_ms) {
  up_({message_kind::begin, {rank, round, static_cast<std::int64_t>(limit_ms)}});
}

void relayed_meetings::joined(int rank) {
  up_({message_kind::joined, {rank}});
}

void relayed_meetings::call(int rank, int round, frame_kind what, blob payload) {
  up_({message_kind::call, {rank, round, static_cast<std::int64_t>(what)}, std::move(payload)});
}

void relayed_meetings::abort(int rank, int status, const std::string& why) {
  up_({message_kind::abort, {rank, status}, bytes_of(why)});
}

void relayed_meetings::leave(int rank, int round, const std::string& why) {
  present_.erase(rank);
  up_({message_kind::leave, {rank, round}, bytes_of(why)});
}

void relayed_meetings::end(int rank, const std::string& why) {
  present_.erase(rank);
  up_({message_kind::end, {rank}, bytes_of(why)});
}

bool relayed_meetings::apply(const message& m, meeting_place& meetings) {
  const int rank = m.number(0);
  const int round = m.numbers.size() > 1 ? m.number(1) : 0;
  if (round < 0) return false;
  switch (m.kind) {
    case message_kind::begin:
      if (m.numbers[2] < 0) return false;
      meetings.begin(rank, round, static_cast<std::uint64_t>(m.numbers[2]));
      return true;
    case message_kind::joined:
      meetings.joined(rank);
      return true;
    case message_kind::call: {
      const auto what = static_cast<frame_kind>(m.number(2));
      const bool collective = what == frame_kind::exchange || what == frame_kind::barrier;
      if (!collective || m.body.size() > bootstrap::protocol::max_blob_bytes) return false;
      meetings.call(rank, round, what, m.body);
      return true;
    }
    case message_kind::abort:
      if (m.numbers[1] < 1 || m.numbers[1] > 255) return false;
      meetings.abort(rank, m.number(1), bootstrap::protocol::decode_text(m.body));
      return true;
    case message_kind::leave:
      meetings.leave(rank, round, bootstrap::protocol::decode_text(m.body));
      return true;
    case message_kind::end:
      meetings.end(rank, bootstrap::protocol::decode_text(m.body));
      return true;
    default:
      return false;
  }
}

std::vector<meeting_rounds::reply> relayed_meetings::replies_in(const message& m) {
  const auto bytes = std::make_shared<const blob>(m.body);
  std::vector<meeting_rounds::reply> replies;
  for (std::size_t i = 1; i < m.numbers.size(); ++i)
    replies.push_back({m.number(i), m.number(0), bytes});
  return replies;
}

message relayed_meetings::reply_to(const std::vector<meeting_rounds::reply>& replies) {
  message m{message_kind::reply, {replies.front().round}, *replies.front().bytes};
  for (const auto& reply : replies) m.numbers.push_back(reply.rank);
  return m;
}

}  // namespace heddle::tools
