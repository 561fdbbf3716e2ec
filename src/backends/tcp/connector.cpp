// SPDX-License-Identifier: BSD-3-Clause
// connector.cpp - making connections, without blocking.
#include "backends/tcp/connector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace heddle::transport::tcp {
namespace {

// The listener existed before its address was known, so a refusal means that the peer has gone, had
// too many strangers at its door, or is not where it was thought to be.
constexpr int most_rounds = 3;

std::string describe_refusal(const rail_address& at, int code) {
  if (code == EMFILE || code == ENFILE)
    return fmt::format("no descriptor is left for a connection to it: {} (raise ulimit -n)",
                       std::strerror(code));
  if (code != 0)
    return fmt::format("it cannot be connected to at {}: {}", at.text(), std::strerror(code));
  return fmt::format("whoever is at {} hung up on our connection, or could not prove to be it",
                     at.text());
}

}  // namespace

connector::connector(tcp_device& owner, int lane, int epoll)
    : device_(owner), lane_(lane), epoll_(epoll), timer_(make_timer()) {
  if (!watch(epoll_, timer_.get(), 0, EPOLLIN))
    fail_errno(errno, "tcp: open lane {}: epoll_ctl", lane);
}

hello connector::hello_to(const peer_lane& peer) const {
  hello h;
  h.from = static_cast<std::uint32_t>(device_.self());
  h.to = static_cast<std::uint32_t>(peer.peer);
  h.from_lane = static_cast<std::uint16_t>(lane_);
  h.to_lane = static_cast<std::uint16_t>(peer.lane);
  h.algorithms = device_.algorithms();
  return h;
}

void connector::start(peer_lane& peer) {
  auto s = std::make_unique<search>();
  s->peer = &peer;
  s->ways = device_.ways_to(peer.peer);
  s->reasons.resize(s->ways.size());
  if (go_on(*s)) searches_.push_back(std::move(s));
  set_timer();
}

// One more, unless all were tried in this round.
void connector::try_next(search& s) {
  const std::size_t before = s.running.size();
  while (s.next < s.ways.size() && s.running.size() == before) try_way(s, s.next++);
  s.tried_at_ms = now_ms();
}

void connector::try_way(search& s, std::size_t way) {
  const tcp_device::way& w = s.ways[way];
  unique_fd fd = connect_to(w.from, w.to);
  if (!fd) {
    s.reasons[way] = describe_refusal(w.to, errno);
    tell_of_refusal(s, way);
    return;
  }
  auto a = std::make_unique<attempt>(
      attempt{handshake::initiate(std::move(fd), hello_to(*s.peer), device_.secret()), way});
  a->talk.wait_in(epoll_);
  s.running.push_back(std::move(a));
}

/// Another way is tried, or this one again.
void connector::tell_of_refusal(const search& s, std::size_t way) const {
  log::info(log::subsystem::wire, "tcp: lane {}, rank {}: {}", lane_, s.peer->peer, s.reasons[way]);
}

std::vector<connector::outcome> connector::advance() {
  if (!searches_.empty()) {
    std::erase_if(searches_, [&](const auto& s) { return !go_on(*s); });
    set_timer();
  }
  return std::exchange(outcomes_, {});
}

// False, as of the two below: the search is over.
bool connector::go_on(search& s) {
  for (auto& a : std::exchange(s.running, {})) {
    const handshake::state state = a->talk.advance();
    if (state == handshake::state::done) return succeed(s, *a);
    if (a->talk.disagrees()) {
      outcomes_.push_back({s.peer, {}, why_they_disagree(device_.algorithms())});
      return false;
    }
    if (state == handshake::state::failed) {
      s.reasons[a->way] = describe_refusal(s.ways[a->way].to, a->talk.error());
      tell_of_refusal(s, a->way);
      continue;
    }
    a->talk.wait_in(epoll_);
    s.running.push_back(std::move(a));
  }
  while (s.running.empty()) {
    if (s.next == s.ways.size()) {
      if (s.round++ == most_rounds) return give_up(s);
      s.next = 0;
    }
    try_next(s);
  }
  if (s.next != s.ways.size() && now_ms() - s.tried_at_ms >= patience_ms) try_next(s);
  return true;
}

bool connector::succeed(search& s, attempt& a) {
  log::debug(log::subsystem::wire, "tcp: lane {} is connected to rank {} at {}", lane_,
             s.peer->peer, s.ways[a.way].to.text());
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < s.next; ++i)
    if (i != a.way) others.push_back(s.ways[i].place);
  device_.learn(s.peer->peer, s.ways[a.way].place, others);
  outcomes_.push_back({s.peer, a.talk.release(), {}});
  return false;
}

bool connector::give_up(const search& s) {
  outcomes_.push_back({s.peer, {}, fmt::format("{}", fmt::join(s.reasons, "; "))});
  return false;
}

void connector::expire(std::uint64_t timeout_ms, std::uint64_t away_ms) {
  std::erase_if(searches_, [&](const auto& s) {
    s->since_ms = std::min(now_ms(), s->since_ms + away_ms);
    if (now_ms() - s->since_ms <= timeout_ms) return false;
    outcomes_.push_back(
        {s->peer, {}, fmt::format("it did not answer a connection for {} s", timeout_ms / 1000)});
    return true;
  });
  set_timer();
}

void connector::forget(const peer_lane& peer) noexcept {
  std::erase_if(searches_, [&](const auto& s) { return s->peer == &peer; });
  set_timer();
}

// For the first search that will want to try another way.
void connector::set_timer() noexcept {
  std::uint64_t first = 0;
  for (const auto& s : searches_)
    if (s->next != s->ways.size() && (first == 0 || s->tried_at_ms < first)) first = s->tried_at_ms;
  if (first == 0 && !timing_) return;
  timing_ = first != 0;
  const std::uint64_t age = now_ms() - first;
  tcp::set_timer(timer_.get(), timing_ ? std::max(patience_ms, age + 1) - age : 0);
}

}  // namespace heddle::transport::tcp
