// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/roll_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace heddle::linktest {
namespace {

constexpr std::array<std::byte, 1> welcome{std::byte{0}}, lost_to_me{std::byte{1}};

/// What cannot be sent now is not worth waiting for: somebody else tells the same.
void post(lane& path, rank to, handler_id what, std::span<const std::byte> header) noexcept {
  constexpr int attempts = 16;
  for (int i = 0; i < attempts && is_busy(path.try_call(to, what, header, {})); ++i) {
  }
}

}  // namespace

void roll_call::join(world& job) {
  peers_.resize(static_cast<std::size_t>(job.size()));
  job.set_handler(question, &roll_call::on_question, this);
  job.set_handler(answer, &roll_call::on_answer, this);
  job.set_handler(suspicion, &roll_call::on_suspicion, this);
}

/// False: an answer is awaited already.
bool roll_call::begin_asking(rank peer) {
  const std::lock_guard lock(mutex_);
  standing& p = of(peer);
  if (p.asked) return false;
  p.asked = true;
  p.since = clock::now();
  return true;
}

void roll_call::ask(lane& path, rank peer) {
  if (begin_asking(peer)) post(path, peer, question, {});
}

bool roll_call::is_silent(rank peer, std::chrono::nanoseconds limit) {
  const std::lock_guard lock(mutex_);
  return of(peer).asked && clock::now() - of(peer).since >= limit;
}

std::chrono::nanoseconds roll_call::left(rank peer, std::chrono::nanoseconds limit) {
  const std::lock_guard lock(mutex_);
  if (!of(peer).asked) return limit;
  return std::max<std::chrono::nanoseconds>(limit - (clock::now() - of(peer).since), {});
}

void roll_call::report(lane& path, rank peer) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(of(peer).reported, true)) return;
  }
  std::array<std::byte, sizeof peer> who{};
  std::memcpy(who.data(), &peer, sizeof peer);
  for (rank r = 0; r < static_cast<rank>(peers_.size()); ++r)
    if (r != peer && r != path.self()) post(path, r, suspicion, who);
}

void roll_call::on_question(void* self, lane& here, const call_message& m) noexcept {
  auto& me = *static_cast<roll_call*>(self);
  bool lost = false;
  {
    const std::lock_guard lock(me.mutex_);
    lost = me.of(m.source).reported;
  }
  post(here, m.source, answer, lost ? lost_to_me : welcome);
}

void roll_call::on_answer(void* self, lane&, const call_message& m) noexcept {
  auto& me = *static_cast<roll_call*>(self);
  const std::lock_guard lock(me.mutex_);
  standing& p = me.of(m.source);
  p.asked = !m.header.empty() && m.header[0] == lost_to_me[0];
  if (p.asked) p.since = {};
}

void roll_call::on_suspicion(void* self, lane& here, const call_message& m) noexcept {
  auto& me = *static_cast<roll_call*>(self);
  rank who = -1;
  if (m.header.size() == sizeof who) std::memcpy(&who, m.header.data(), sizeof who);
  if (who < 0 || who >= static_cast<rank>(me.peers_.size()) || who == here.self()) return;
  me.ask(here, who);
}

}  // namespace heddle::linktest
