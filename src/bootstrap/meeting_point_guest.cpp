// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/meeting_point_guest.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

namespace heddle::bootstrap {

using namespace meeting_point_protocol;

namespace {

constexpr std::uint64_t connect_limit_ms = 3000;
constexpr std::uint64_t first_pause_ms = 5, longest_pause_ms = 200;  // between tries
constexpr std::uint64_t told_after_s = 5;
/// Rank 0 has the limit too, and can say who is missing: it comes first.
constexpr std::uint64_t grace_ms = 5000;

/// Why a connection was not made, in words.
struct attempt {
  unique_fd socket;
  std::string problem;
};

attempt connect_to(const addrinfo& where) {
  unique_fd socket(::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {{}, errno_text(errno)};
  if (connect(socket.get(), where.ai_addr, where.ai_addrlen) == 0) return {std::move(socket), {}};
  if (errno != EINPROGRESS) return {{}, errno_text(errno)};
  patience limit(connect_limit_ms);
  std::array<pollfd, 1> done{{{socket.get(), POLLOUT, 0}}};
  while (!limit.wait(done))
    if (limit.over()) return {{}, "no answer"};
  int problem = 0;
  socklen_t length = sizeof problem;
  (void)getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &length);
  if (problem != 0) return {{}, errno_text(problem)};
  return {std::move(socket), {}};
}

/// The first address of the name that answers. Names may come to be while we try.
attempt connect_once(const meeting_point& where) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int problem = getaddrinfo(where.host.c_str(), where.port.c_str(), &wanted, &found))
    return {{}, gai_strerror(problem)};
  attempt last;
  for (const addrinfo* one = found; one != nullptr && !last.socket; one = one->ai_next)
    last = connect_to(*one);
  freeaddrinfo(found);
  return last;
}

}  // namespace

meeting_point_guest::meeting_point_guest(const meeting_point& where, std::uint64_t limit_ms)
    : where_(where), limit_ms_(limit_ms == 0 ? 0 : limit_ms + grace_ms), until_start_(limit_ms_) {
  patience limit(limit_ms);
  find_host(limit);
  (void)receive(frame_kind::welcome);
}

// A rank that has been welcomed waits for others as long as rank 0 does.
bool meeting_point_guest::hears_start(int entrance, std::uint64_t most_ms) {
  wait(until_start_, entrance, most_ms);
  return hear(frame_kind::starting, until_start_).has_value();
}

void meeting_point_guest::speak_for(std::span<const int> ranks) {
  link_->send(
      message(frame_kind::join, encode(request{where_.size, {ranks.begin(), ranks.end()}})));
  link_->pump();
}

blob meeting_point_guest::exchange(std::span<const std::byte> here) {
  link_->send(message(frame_kind::exchange, here));
  return receive(frame_kind::everything).payload;
}

void meeting_point_guest::give_up(const std::string& why) {
  link_->send(message(frame_kind::failed, protocol::encode_text(why)));
  link_->pump();  // there is room for it, or rank 0 sees that this rank goes
}

/// Until somebody there says hello: what accepts and hangs up is a proxy without a server.
void meeting_point_guest::find_host(patience& limit) {
  bool told = false;
  for (std::uint64_t pause_ms = first_pause_ms;;
       pause_ms = std::min(2 * pause_ms, longest_pause_ms)) {
    tried_ns_ = now_ns();
    attempt now = connect_once(where_);
    if (now.socket) {
      open_link(std::move(now.socket));
      while (!link_->greeted() && link_->problem().empty() && !limit.over()) wait(limit);
      if (link_->greeted()) return;
      now.problem = link_->problem().empty() ? "who listens there says nothing"
                                             : "who listens there: " + link_->problem();
    }
    if (limit.over())
      fail(
          "nobody but this rank meets at {} after {} s (HEDDLE_JOIN_TIMEOUT_MS; {}): is rank 0 "
          "started, and is this its host's address (HEDDLE_RENDEZVOUS)?",
          place(), limit.waited_s(), now.problem);
    if (limit.waited_s() >= told_after_s && !std::exchange(told, true))
      log::warn(log::subsystem::job, "rank {} waits for rank 0 at {}: {}", where_.rank, place(),
                now.problem);
    (void)limit.wait({}, pause_ms);
  }
}

void meeting_point_guest::open_link(unique_fd socket) {
  link_.emplace(std::move(socket), where_.secret, sealed_link::side::guest,
                most_from_host(where_.size));
  link_->send(message(frame_kind::join, encode(request{where_.size, {where_.rank}})));
  link_->pump();
}

/// For news of the link, or of `entrance`.
void meeting_point_guest::wait(patience& limit, int entrance, std::uint64_t most_ms) {
  std::array<pollfd, 2> news{{{link_->fd(), link_->events(), 0}, {entrance, POLLIN, 0}}};
  (void)limit.wait(news, most_ms);
  link_->pump();
}

/// Rank 0's next word, if it has come.
std::optional<frame> meeting_point_guest::hear(frame_kind wanted, patience& limit) {
  if (const auto said = link_->next()) {
    auto got = parse(*said);
    proven_ = true;
    if (got && got->kind == frame_kind::failed) fail("{}", protocol::decode_text(got->payload));
    if (!got || got->kind != wanted) fail("rank 0 speaks another version of Heddle");
    return got;
  }
  if (!link_->problem().empty()) {
    if (!may_be_crowded_out()) refuse();
    find_host(limit);
  }
  if (limit.over())
    fail("rank 0 at {} has said nothing for {} s: is it stopped?", place(), limit.waited_s());
  return {};
}

frame meeting_point_guest::receive(frame_kind wanted) {
  patience limit(limit_ms_);
  for (;;) {
    if (auto said = hear(wanted, limit)) return std::move(*said);
    wait(limit);
  }
}

/// A proof that rank 0 has read and does not believe, it answers sooner: then this rank is told.
bool meeting_point_guest::may_be_crowded_out() const noexcept {
  return !proven_ && now_ns() - tried_ns_ >= proof_limit_ns;
}

void meeting_point_guest::refuse() const {
  if (proven_) fail("rank 0 at {} went away while the ranks joined", place());
  fail(
      "rank 0 at {} has turned this rank away ({}): is HEDDLE_SECRET_FILE the same on both, and "
      "is that rank 0 of this job?",
      place(), link_->problem());
}

std::string meeting_point_guest::place() const {
  return fmt::format("{}:{}", where_.host, where_.port);
}

}  // namespace heddle::bootstrap
