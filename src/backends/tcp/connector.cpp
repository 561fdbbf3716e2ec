// connector.cpp - making connections, without blocking.
#include "backends/tcp/connector.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::transport::tcp {
namespace {

// The listener existed before its address was known, so a refusal means that the peer has gone, or
// had too many strangers at its door.
constexpr int most_tries = 3;

std::string describe_refusal(int code) {
  if (code == EMFILE || code == ENFILE)
    return fmt::format("no descriptor is left for a connection to it: {} (raise ulimit -n)",
                       std::strerror(code));
  if (code != 0) return fmt::format("it cannot be connected to: {}", std::strerror(code));
  return "it hung up on our connection, or could not prove to be of this job";
}

}  // namespace

void connector::attempt_to(peer_lane& peer, int tries) {
  const auto way = device_.way_to(peer.peer);
  if (!way) return;
  hello h;
  h.from = static_cast<std::uint32_t>(device_.self());
  h.to = static_cast<std::uint32_t>(peer.peer);
  h.from_lane = static_cast<std::uint16_t>(lane_);
  h.to_lane = static_cast<std::uint16_t>(peer.lane);
  h.algorithms = device_.algorithms();
  unique_fd fd = connect_to(way->from, way->to);
  const int refusal = errno;
  auto a = std::make_unique<attempt>(
      attempt{handshake::initiate(std::move(fd), h, device_.secret()), &peer, tries, now_ms()});
  if (a->talk.fd() < 0) return give_up(*a, refusal);
  a->talk.wait_in(epoll_);
  attempts_.push_back(std::move(a));
}

void connector::give_up(const attempt& a, int error) {
  if (a.tries < most_tries) return attempt_to(*a.peer, a.tries + 1);
  outcomes_.push_back({a.peer, {}, describe_refusal(error)});
}

std::vector<connector::outcome> connector::advance() {
  for (auto& a : std::exchange(attempts_, {})) {
    const handshake::state s = a->talk.advance();
    if (s == handshake::state::failed && a->talk.disagrees()) {
      outcomes_.push_back({a->peer, {}, why_they_disagree(device_.algorithms())});
    } else if (s == handshake::state::failed) {
      give_up(*a, a->talk.error());
    } else if (s == handshake::state::done) {
      outcomes_.push_back({a->peer, a->talk.release(), {}});
    } else {
      a->talk.wait_in(epoll_);
      attempts_.push_back(std::move(a));
    }
  }
  return std::exchange(outcomes_, {});
}

void connector::expire(std::uint64_t timeout_ms) {
  std::erase_if(attempts_, [&](const auto& a) {
    if (now_ms() - a->since_ms <= timeout_ms) return false;
    outcomes_.push_back(
        {a->peer, {}, fmt::format("it did not answer a connection for {} s", timeout_ms / 1000)});
    return true;
  });
}

}  // namespace heddle::transport::tcp
