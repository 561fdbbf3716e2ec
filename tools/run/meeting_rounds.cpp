// SPDX-License-Identifier: BSD-3-Clause
#include "run/meeting_rounds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::tools {

namespace protocol = bootstrap::protocol;

meeting_rounds::meeting_rounds(int size)
    : size_(size), joins_(static_cast<std::size_t>(size)), present_(joins_.size()) {}

std::optional<int> meeting_rounds::join(int rank) {
  const auto index = static_cast<std::size_t>(rank);
  if (present_[index]) return {};
  present_[index] = true;
  return joins_[index]++;
}

meeting_rounds::meeting& meeting_rounds::meeting_of(int round) {
  const auto [found, fresh] = meetings_.try_emplace(round);
  if (fresh) {
    found->second.given.resize(joins_.size());
    found->second.departed = ended_;
  }
  return found->second;
}

void meeting_rounds::call(int rank, int round, frame_kind what, blob payload) {
  meeting& m = meeting_of(round);
  const bool mismatch = m.waiting > 0 && m.what != what;
  if (m.waiting == 0) m.what = what;
  m.given[static_cast<std::size_t>(rank)] = std::move(payload);
  ++m.waiting;
  if (mismatch)
    fail(round, m, fmt::format("rank {} called another collective than the ranks before it", rank));
  else
    settle(round, m);
}

void meeting_rounds::leave(int rank, int round, const std::string& why) {
  present_[static_cast<std::size_t>(rank)] = false;
  meeting& m = meeting_of(round);
  const auto same = [&](const departure& d) { return d.rank == rank; };
  if (std::none_of(m.departed.begin(), m.departed.end(), same)) m.departed.push_back({rank, why});
  settle(round, m);
  if (m.departed.size() == joins_.size()) meetings_.erase(round);
}

void meeting_rounds::end(int rank, const std::string& why) {
  ended_.push_back({rank, why});
  std::vector<int> rounds;
  for (const auto& [round, m] : meetings_) rounds.push_back(round);
  for (const int round : rounds) leave(rank, round, why);
}

std::vector<int> meeting_rounds::missing(int round) const {
  const auto found = meetings_.find(round);
  if (found == meetings_.end() || found->second.waiting == 0) return {};
  std::vector<int> ranks;
  for (int rank = 0; rank < size_; ++rank)
    if (!found->second.given[static_cast<std::size_t>(rank)]) ranks.push_back(rank);
  return ranks;
}

void meeting_rounds::give_up(int round, const std::string& why) {
  fail(round, meeting_of(round), why);
}

void meeting_rounds::tell_of_starts() {
  const auto word = std::make_shared<const blob>(protocol::encode(frame_kind::starting, {}));
  for (const auto& [round, m] : meetings_)
    for (int rank = 0; m.waiting > 0 && rank < size_; ++rank)
      if (m.given[static_cast<std::size_t>(rank)]) replies_.push_back({rank, round, word});
}

void meeting_rounds::settle(int round, meeting& m) {
  if (m.waiting == 0) return;
  if (m.waiting == size_) return complete(round, m);
  for (const departure& d : m.departed)
    if (!m.given[static_cast<std::size_t>(d.rank)]) return fail(round, m, d.why);
}

void meeting_rounds::complete(int round, meeting& m) {
  if (m.what == frame_kind::barrier)
    return answer_waiting(round, m, protocol::encode(frame_kind::released, {}));
  std::vector<blob> all;
  for (auto& given : m.given) all.push_back(std::move(*given));
  answer_waiting(round, m, protocol::encode(frame_kind::everything, protocol::encode_blobs(all)));
}

void meeting_rounds::fail(int round, meeting& m, const std::string& why) {
  answer_waiting(round, m, protocol::encode(frame_kind::failed, protocol::encode_text(why)));
}

void meeting_rounds::answer_waiting(int round, meeting& m, blob frame) {
  const auto shared = std::make_shared<const blob>(std::move(frame));
  for (int rank = 0; rank < size_; ++rank) {
    auto& given = m.given[static_cast<std::size_t>(rank)];
    if (given) replies_.push_back({rank, round, shared});
    given.reset();
  }
  m.waiting = 0;
}

}  // namespace heddle::tools
