// SPDX-License-Identifier: BSD-3-Clause
#include "info/scale_zero.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "base/error.h"
#include "bootstrap/host_gifts.h"
#include "bootstrap/meeting_point_protocol.h"

namespace heddle::tools {

using bootstrap::blob;
using bootstrap::protocol::frame_kind;
namespace wire = bootstrap::meeting_point_protocol;

model_zero::model_zero(const scale_job& job)
    : job_(job),
      secret_(bootstrap::random_secret()),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      listen(listener_.get(), SOMAXCONN) != 0)
    fail_errno(errno, "listen for the ranks of the measured host");
}

bootstrap::meeting_point model_zero::place_of(int rank) const {
  sockaddr_in here{};
  socklen_t length = sizeof here;
  (void)getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&here), &length);
  return {.host = "127.0.0.1",
          .port = fmt::format("{}", ntohs(here.sin_port)),
          .rank = rank,
          .size = job_.ranks,
          .secret = secret_};
}

meeting_point_traffic model_zero::serve(int real) {
  using bootstrap::sealed_link;
  link_.emplace(unique_fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)), secret_,
                sealed_link::side::host, wire::most_from_guest(job_.ranks));
  welcome_host();
  while (const auto message = hear()) {
    const auto said = wire::parse(*message);
    if (!said || said->kind != frame_kind::exchange) fail("the measured host is out of step");
    say(wire::message(frame_kind::everything, table_for(said->payload, real)));
  }
  return said_;
}

void model_zero::welcome_host() {
  const int first = job_.first_of(job_.measured_host);
  std::size_t missing = static_cast<std::size_t>(job_.end_of(job_.measured_host) - first);
  if (first == 0) --missing;
  for (bool welcomed = false; missing > 0; welcomed = true) {
    const auto message = hear();
    const auto said = message ? wire::parse(*message) : std::nullopt;
    const auto come = said ? wire::decode_request(said->payload) : std::nullopt;
    if (!come || come->ranks.size() > missing) fail("the measured host does not join");
    missing -= come->ranks.size();
    if (!welcomed) say(wire::message(frame_kind::welcome, {}));
  }
  say(wire::message(frame_kind::starting, {}));
}

blob model_zero::table_for(std::span<const std::byte> gifts, int real) const {
  blob mine;
  const auto take = [&](int rank, std::span<const std::byte> given) {
    if (rank == real) mine.assign(given.begin(), given.end());
  };
  if (!bootstrap::host_gifts::decode(gifts, job_.ranks, take))
    fail("what the measured host gives is malformed");
  std::vector<blob> all;
  for (int rank = 0; rank < job_.ranks; ++rank) all.push_back(gift_of(job_, rank, mine));
  const bootstrap::gathered made(all);
  return {made.encoded().begin(), made.encoded().end()};
}

/// Nothing: the leader has gone, or one of its host's ranks, as when it has its world.
std::optional<blob> model_zero::hear() {
  for (;;) {
    if (auto message = link_->next()) {
      const auto said = wire::parse(*message);
      if (said && said->kind == frame_kind::failed) return {};
      ++said_.to_zero;
      said_.to_zero_bytes += message->size();
      return message;
    }
    if (!link_->problem().empty()) return {};
    pollfd news{link_->fd(), link_->events(), 0};
    (void)poll(&news, 1, -1);
    link_->pump();
  }
}

void model_zero::say(std::span<const std::byte> message) {
  ++said_.from_zero;
  said_.from_zero_bytes += message.size();
  link_->send(message);
  link_->pump();
}

}  // namespace heddle::tools
