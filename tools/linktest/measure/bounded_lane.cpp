// SPDX-License-Identifier: BSD-3-Clause
// bounded_lane.cpp - every wait has a limit, and what is given up is taken back or kept aside.
#include "linktest/measure/bounded_lane.h"

#include <algorithm>

namespace heddle::linktest {
namespace {

constexpr int meeting_patience = 20;  // timeouts: peers may have waited for others themselves

/// In turns, so that a time in which this process was stopped is not taken for the peer's silence.
template <class Event>
bool await_awake(std::chrono::nanoseconds limit, const Event& wait_for) {
  awake_time waited;
  for (std::chrono::nanoseconds left = limit; !wait_for(std::min(left, awake_time::turn));) {
    left = limit - waited.passed();
    if (left.count() <= 0) return false;
  }
  return true;
}

}  // namespace

bool abandoned::settled() const noexcept {
  return std::all_of(flags_.begin(), flags_.end(), [](const auto& f) { return f->ready(); });
}

status bounded_lane::finish_waiting(slot& s, rank peer, patience how) {
  const auto ready = [&](std::chrono::nanoseconds limit) { return lane_.wait_for(*s.done, limit); };
  if (!s.done->ready() && !await_with(peer, how, ready)) {
    give_up(s);
    return status::peer_lost;
  }
  s.waiting = false;
  return s.done->result().code;
}

bool bounded_lane::await(counter& arrived, std::uint64_t target, rank peer) {
  return arrived.count() >= target ||
         await_with(peer, patience::usual, [&](std::chrono::nanoseconds limit) {
           return lane_.wait_for(arrived, target, limit);
         });
}

/// In a meeting the peer may be waiting for others, and is asked whether it still moves.
template <class Event>
bool bounded_lane::await_with(rank peer, patience how, const Event& wait_for) {
  if (asked_ == nullptr)
    return await_awake(how == patience::usual ? timeout_ : timeout_ * meeting_patience, wait_for);
  const int rounds = how == patience::usual ? 1 : meeting_patience;
  for (int i = 0; i < rounds; ++i) {
    if (await_awake(asked_->left(peer, timeout_), wait_for)) return true;
    if (asked_->is_silent(peer, timeout_)) break;
    if (how == patience::meeting) asked_->ask(lane_, peer);
  }
  asked_->report(lane_, peer);
  return false;
}

/// Takes an unmatched receive back; what cannot be taken back is kept until it ends by itself.
void bounded_lane::give_up(slot& s) {
  if (!s.waiting) return;
  s.waiting = false;
  constexpr std::chrono::milliseconds soon{100};
  const auto until = std::chrono::steady_clock::now() + soon;
  while (lane_.try_cancel(*s.done) == status::busy_lane && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  if (lane_.wait_for(*s.done, soon)) return;
  given_up_.keep(std::move(s.done));
  s.done = std::make_unique<flag>();
}

void bounded_lane::give_up(std::vector<slot>& all) {
  for (slot& s : all) give_up(s);
}

}  // namespace heddle::linktest
