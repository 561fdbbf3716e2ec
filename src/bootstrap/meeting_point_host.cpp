// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/meeting_point_host.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "bootstrap/host_gifts.h"
#include "bootstrap/meeting_point_protocol.h"

namespace heddle::bootstrap {

using namespace meeting_point_protocol;

namespace {

constexpr int most_told_of = 16;
constexpr std::size_t most_named = 16;
constexpr std::uint64_t flush_limit_ms = 10'000;

std::string name_of(const sockaddr_storage& address, socklen_t length) {
  std::array<char, NI_MAXHOST> host{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host.data(), host.size(),
                  nullptr, 0, NI_NUMERICHOST) != 0)
    return "somebody";
  std::string_view name(host.data());
  if (name.starts_with("::ffff:")) name.remove_prefix(7);  // IPv4 at a socket of both families
  return std::string(name);
}

unique_fd bound(int family, const sockaddr* address, socklen_t length) {
  unique_fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {};
  const int yes = 1, no = 0;
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (family == AF_INET6) (void)setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (bind(socket.get(), address, length) != 0 || listen(socket.get(), SOMAXCONN) != 0) return {};
  return socket;
}

/// At an address of this host where one was given, so that no other network sees the port. Not by
/// name: a host's own name is often 127.0.1.1 on itself.
unique_fd bound_to_address(const meeting_point& where) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(where.host.c_str(), where.port.c_str(), &wanted, &found) != 0) {
    errno = EADDRNOTAVAIL;
    return {};
  }
  unique_fd socket = bound(found->ai_family, found->ai_addr, found->ai_addrlen);
  const int problem = errno;
  freeaddrinfo(found);
  errno = problem;
  return socket;
}

unique_fd bound_to_all(std::uint16_t port) {
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_port = htons(port);
  unique_fd socket = bound(AF_INET6, reinterpret_cast<const sockaddr*>(&both), sizeof both);
  if (socket || errno == EADDRINUSE || errno == EACCES) return socket;
  sockaddr_in old{};  // a host without IPv6
  old.sin_family = AF_INET;
  old.sin_port = htons(port);
  return bound(AF_INET, reinterpret_cast<const sockaddr*>(&old), sizeof old);
}

}  // namespace

meeting_point_host::meeting_point_host(const meeting_point& where, std::uint64_t limit_ms)
    : size_(where.size),
      secret_(where.secret),
      limit_ms_(limit_ms),
      speakers_(static_cast<std::size_t>(where.size)) {
  if (size_ > 1) listen_at(where);
}

void meeting_point_host::listen_at(const meeting_point& where) {
  std::uint16_t port = 0;
  (void)std::from_chars(where.port.data(), where.port.data() + where.port.size(), port);
  listener_ = bound_to_address(where);
  if (!listener_ && errno != EADDRINUSE && errno != EACCES) listener_ = bound_to_all(port);
  if (listener_) return;
  const int problem = errno;
  if (problem == EADDRINUSE)
    fail(
        "rank 0 listens for the others at port {}, and that is taken: another job, or another "
        "process with HEDDLE_RANK=0, is there. Give HEDDLE_RENDEZVOUS another port",
        port);
  fail_errno(problem, "rank 0 listens for the others at port {}", port);
}

gathered meeting_point_host::exchange(std::span<const std::byte> mine) {
  await_all();
  std::vector<blob> given(speakers_.size());
  given.front().assign(mine.begin(), mine.end());
  for (const auto& g : guests_) take_given(*g, given);
  gathered all(given);
  tell_all(message(frame_kind::everything, all.encoded()));
  return all;
}

/// Until all ranks have come, the first time, and have given.
void meeting_point_host::await_all() {
  patience limit(limit_ms_);
  const auto others = std::span(speakers_).subspan(1);
  while (!std::ranges::all_of(others, has_given)) {
    if (!started_ && std::ranges::all_of(others, has_come)) {
      started_ = true;
      tell_all(message(frame_kind::starting, {}));
    }
    if (limit.over())
      give_up(
          fmt::format("{} after {} s (HEDDLE_JOIN_TIMEOUT_MS): are they started with the same "
                      "HEDDLE_RENDEZVOUS, HEDDLE_SIZE and secret?",
                      missing(), limit.waited_s()));
    turn(limit);
  }
}

/// Of the ranks that it speaks for, and of no others.
void meeting_point_host::take_given(visitor& guest, std::vector<blob>& all) {
  std::size_t ranks = 0;
  const auto take = [&](int rank, std::span<const std::byte> given) {
    const auto at = static_cast<std::size_t>(rank);
    if (speakers_[at] != &guest) return;
    all[at].assign(given.begin(), given.end());
    ++ranks;
  };
  const blob bytes = *std::exchange(guest.given, std::nullopt);
  if (!host_gifts::decode(bytes, size_, take) || ranks != guest.ranks)
    give_up(
        fmt::format("what rank {} ({}) gives for its host is malformed", guest.rank, guest.from));
}

/// Waits for news once, and hears it.
void meeting_point_host::turn(patience& limit) {
  std::vector<pollfd> watched;
  const bool room = newcomers_.size() < most_newcomers_;
  watched.push_back({room ? listener_.get() : -1, POLLIN, 0});
  for (const auto& n : newcomers_) watched.push_back({n->link.fd(), n->link.events(), 0});
  for (const auto& g : guests_) watched.push_back({g->link.fd(), g->link.events(), 0});
  (void)limit.wait(watched);
  for (const auto& g : guests_) hear(*g);
  std::erase_if(newcomers_, [this](visitor_ptr& n) { return settle(n); });
  if ((watched.front().revents & POLLIN) != 0) accept_one();
}

void meeting_point_host::accept_one() {
  sockaddr_storage from{};
  socklen_t length = sizeof from;
  unique_fd socket(
      accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC));
  if (!socket && (errno == EMFILE || errno == ENFILE))
    give_up("rank 0 has no descriptors left for more hosts: allow it one for each (ulimit -n)");
  if (!socket) return;  // it has gone again
  newcomers_.push_back(std::make_unique<visitor>(
      visitor{{std::move(socket), secret_, sealed_link::side::host, most_from_stranger},
              name_of(from, length),
              now_ns()}));
}

/// True: it is no newcomer any more, but a guest or turned away.
bool meeting_point_host::settle(visitor_ptr& newcomer) {
  newcomer->link.pump();
  if (const auto request = newcomer->link.next()) {
    admit(std::move(newcomer), *request);
    return true;
  }
  std::string why = newcomer->link.problem();
  const bool crowded = newcomers_.size() >= most_newcomers_;
  if (why.empty() && crowded && now_ns() - newcomer->since_ns > proof_limit_ns)
    why = "it has proved nothing, and others wait";
  if (why.empty()) return false;
  turn_away(*newcomer, why);
  return true;
}

/// It knows the secret.
void meeting_point_host::admit(visitor_ptr newcomer, std::span<const std::byte> said) {
  const auto frame = parse(said);
  const auto asked = frame && frame->kind == frame_kind::join ? decode_request(frame->payload)
                                                              : std::optional<request>();
  if (!asked) return turn_away(*newcomer, "it speaks another version of Heddle");
  if (asked->size != size_)
    return refuse(*newcomer, fmt::format("HEDDLE_SIZE is {} on {} and {} on rank 0: set the same",
                                         asked->size, newcomer->from, size_));
  if (const std::string why = enter(*newcomer, asked->ranks); !why.empty()) {
    std::ranges::replace(speakers_, newcomer.get(), nullptr);
    return refuse(*newcomer, why);
  }
  newcomer->link.limit(most_from_guest(size_));
  newcomer->link.send(message(frame_kind::welcome, {}));
  newcomer->link.pump();
  guests_.push_back(std::move(newcomer));
}

/// From now on it speaks for them. Why not; empty: it does.
std::string meeting_point_host::enter(visitor& guest, std::span<const std::int32_t> ranks) {
  for (const std::int32_t rank : ranks) {
    if (rank < 1 || rank >= size_)
      return fmt::format(
          "HEDDLE_RANK is {} on {}: give each process one of 0 to {}, and 0 to the one that "
          "listens",
          rank, guest.from, size_ - 1);
    visitor*& speaker = speakers_[static_cast<std::size_t>(rank)];
    if (speaker != nullptr)
      return fmt::format(
          "rank {} has come already, from {}, and again from {}: give each process a HEDDLE_RANK "
          "of its own",
          rank, speaker->from, guest.from);
    speaker = &guest;
    if (guest.ranks++ == 0) guest.rank = rank;
  }
  return {};
}

void meeting_point_host::refuse(visitor& who, const std::string& why) {
  who.link.send(message(frame_kind::failed, protocol::encode_text(why)));
  who.link.pump();  // a fresh socket has room for it
  turn_away(who, why);
}

/// Nothing that a stranger does may fill a log.
void meeting_point_host::turn_away(const visitor& who, const std::string& why) {
  if (++told_of_ > most_told_of) return;
  log::warn(log::subsystem::job, "rendezvous: turned away {}: {}{}", who.from, why,
            told_of_ == most_told_of ? " (no more are told of)" : "");
}

void meeting_point_host::hear(visitor& guest) {
  guest.link.pump();
  while (!guest.given) {
    const auto said = guest.link.next();
    if (!said) break;
    auto frame = parse(*said);
    const auto asked = frame && frame->kind == frame_kind::join && !started_
                           ? decode_request(frame->payload)
                           : std::nullopt;
    if (asked) {
      if (const std::string why = enter(guest, asked->ranks); !why.empty()) give_up(why);
    } else if (frame && frame->kind == frame_kind::failed) {
      give_up(fmt::format("rank {} ({}) gives up: {}", guest.rank, guest.from,
                          protocol::decode_text(frame->payload)));
    } else if (frame && frame->kind == frame_kind::exchange) {
      guest.given = std::move(frame->payload);
    } else {
      give_up(fmt::format("rank {} ({}) speaks another version of Heddle", guest.rank, guest.from));
    }
  }
  if (!guest.given && !guest.link.problem().empty())
    give_up(fmt::format("rank {} ({}) went away while the ranks joined", guest.rank, guest.from));
}

/// "2 of 8 ranks are missing: 3, 7"
std::string meeting_point_host::missing() const {
  std::size_t count = 0;
  std::string names;
  for (std::size_t r = 1; r < speakers_.size(); ++r) {
    if (started_ ? has_given(speakers_[r]) : has_come(speakers_[r])) continue;
    if (++count <= most_named) names += fmt::format("{}{}", count > 1 ? ", " : "", r);
  }
  if (count > most_named) names += ", ...";
  return fmt::format("{} of {} ranks are missing: {},", count, size_, names);
}

void meeting_point_host::give_up(const std::string& why) {
  tell_all(message(frame_kind::failed, protocol::encode_text(why)));
  fail("{}", why);
}

void meeting_point_host::tell_all(std::span<const std::byte> message) {
  for (const auto& g : guests_) g->link.send(message);
  flush();
}

/// Guests that are gone are found by the next exchange, unless nobody needs them any more.
void meeting_point_host::flush() {
  patience limit(flush_limit_ms);
  for (;;) {
    std::vector<pollfd> watched;
    for (const auto& g : guests_) {
      if (!g->link.problem().empty()) continue;
      g->link.pump();
      if (!g->link.flushed()) watched.push_back({g->link.fd(), POLLOUT, 0});
    }
    if (watched.empty() || limit.over()) return;
    (void)limit.wait(watched);
  }
}

}  // namespace heddle::bootstrap
