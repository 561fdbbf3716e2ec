// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous_host.h"

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
#include "bootstrap/rendezvous_protocol.h"

namespace heddle::bootstrap {

using namespace rendezvous_protocol;

namespace {

constexpr std::size_t most_newcomers = 256;
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
unique_fd bound_to_address(const meeting_place& where) {
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

rendezvous_host::rendezvous_host(const meeting_place& where, std::uint64_t limit_ms)
    : size_(where.size),
      secret_(where.secret),
      nonce_(random_secret()),
      limit_ms_(limit_ms),
      guests_(static_cast<std::size_t>(where.size)) {
  if (size_ > 1) listen_at(where);
}

void rendezvous_host::listen_at(const meeting_place& where) {
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

gathered rendezvous_host::exchange(std::span<const std::byte> mine) {
  patience limit(limit_ms_);
  while (!all_have_given()) {
    if (limit.over())
      give_up(
          fmt::format("{} after {} s (HEDDLE_JOIN_TIMEOUT_MS): are they started with the same "
                      "HEDDLE_RENDEZVOUS, HEDDLE_SIZE and secret?",
                      missing(), limit.waited_s()));
    turn(limit);
  }
  std::vector<blob> given{blob(mine.begin(), mine.end())};
  for (std::size_t r = 1; r < guests_.size(); ++r)
    given.push_back(*std::exchange(guests_[r]->given, std::nullopt));
  gathered all(given);
  const blob answer = message(frame_kind::everything, all.encoded());
  for (std::size_t r = 1; r < guests_.size(); ++r) guests_[r]->link.send(answer);
  flush();
  return all;
}

/// Waits for news once, and hears it.
void rendezvous_host::turn(patience& limit) {
  std::vector<pollfd> watched;
  const bool room = newcomers_.size() < most_newcomers;
  watched.push_back({room ? listener_.get() : -1, POLLIN, 0});
  for (const auto& n : newcomers_) watched.push_back({n->link.fd(), n->link.events(), 0});
  for (const auto& g : guests_)
    if (g) watched.push_back({g->link.fd(), g->link.events(), 0});
  (void)limit.wait(watched);
  for (std::size_t r = 1; r < guests_.size(); ++r)
    if (guests_[r]) hear(static_cast<int>(r));
  std::erase_if(newcomers_, [this](visitor_ptr& n) { return settle(n); });
  if ((watched.front().revents & POLLIN) != 0) accept_one();
}

void rendezvous_host::accept_one() {
  sockaddr_storage from{};
  socklen_t length = sizeof from;
  unique_fd socket(
      accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC));
  if (!socket && (errno == EMFILE || errno == ENFILE))
    give_up("rank 0 has no descriptors left for more ranks: allow it one for each (ulimit -n)");
  if (!socket) return;  // it has gone again
  newcomers_.push_back(std::make_unique<visitor>(
      visitor{{std::move(socket), secret_, sealed_link::side::host, most_from_guest},
              name_of(from, length),
              now_ns()}));
}

/// True: it is no newcomer any more, but a guest or turned away.
bool rendezvous_host::settle(visitor_ptr& newcomer) {
  newcomer->link.pump();
  if (const auto request = newcomer->link.next()) {
    admit(std::move(newcomer), *request);
    return true;
  }
  std::string why = newcomer->link.problem();
  const bool crowded = newcomers_.size() >= most_newcomers;
  if (why.empty() && crowded && now_ns() - newcomer->since_ns > proof_limit_ns)
    why = "it has proved nothing, and others wait";
  if (why.empty()) return false;
  turn_away(*newcomer, why);
  return true;
}

/// It knows the secret.
void rendezvous_host::admit(visitor_ptr newcomer, std::span<const std::byte> said) {
  const auto frame = parse(said);
  const auto asked = frame && frame->kind == frame_kind::join ? decode_request(frame->payload)
                                                              : std::optional<request>();
  if (!asked) return turn_away(*newcomer, "it speaks another version of Heddle");
  if (asked->size != size_)
    return refuse(*newcomer, fmt::format("HEDDLE_SIZE is {} on {} and {} on rank 0: set the same",
                                         asked->size, newcomer->from, size_));
  if (asked->rank < 1 || asked->rank >= size_)
    return refuse(*newcomer, fmt::format("HEDDLE_RANK is {} on {}: give each process one of 0 to "
                                         "{}, and 0 to the one that listens",
                                         asked->rank, newcomer->from, size_ - 1));
  visitor_ptr& place = guests_[static_cast<std::size_t>(asked->rank)];
  if (place)
    return refuse(*newcomer, fmt::format("rank {} has come already, from {}, and again from {}: "
                                         "give each process a HEDDLE_RANK of its own",
                                         asked->rank, place->from, newcomer->from));
  newcomer->link.send(message(frame_kind::welcome, nonce_));
  newcomer->link.pump();
  place = std::move(newcomer);
}

void rendezvous_host::refuse(visitor& who, const std::string& why) {
  who.link.send(message(frame_kind::failed, protocol::encode_text(why)));
  who.link.pump();  // a fresh socket has room for it
  turn_away(who, why);
}

/// Nothing that a stranger does may fill a log.
void rendezvous_host::turn_away(const visitor& who, const std::string& why) {
  if (++told_of_ > most_told_of) return;
  log::warn(log::subsystem::job, "rendezvous: turned away {}: {}{}", who.from, why,
            told_of_ == most_told_of ? " (no more are told of)" : "");
}

void rendezvous_host::hear(int rank) {
  visitor& guest = *guests_[static_cast<std::size_t>(rank)];
  guest.link.pump();
  if (guest.given) return;
  if (const auto said = guest.link.next()) {
    auto frame = parse(*said);
    if (frame && frame->kind == frame_kind::exchange) {
      guest.given = std::move(frame->payload);
      return;
    }
    give_up(fmt::format("rank {} ({}) speaks another version of Heddle", rank, guest.from));
  }
  if (!guest.link.problem().empty())
    give_up(fmt::format("rank {} ({}) went away while the ranks joined", rank, guest.from));
}

bool rendezvous_host::all_have_given() const {
  return std::all_of(guests_.begin() + 1, guests_.end(),
                     [](const visitor_ptr& g) { return g && g->given; });
}

/// "2 of 8 ranks are missing: 3, 7"
std::string rendezvous_host::missing() const {
  std::size_t count = 0;
  std::string names;
  for (std::size_t r = 1; r < guests_.size(); ++r) {
    if (guests_[r] && guests_[r]->given) continue;
    if (++count <= most_named) names += fmt::format("{}{}", count > 1 ? ", " : "", r);
  }
  if (count > most_named) names += ", ...";
  return fmt::format("{} of {} ranks are missing: {},", count, size_, names);
}

void rendezvous_host::give_up(const std::string& why) {
  const blob answer = message(frame_kind::failed, protocol::encode_text(why));
  for (const auto& g : guests_)
    if (g) g->link.send(answer);
  flush();
  fail("{}", why);
}

/// Guests that are gone are found by the next exchange, unless nobody needs them any more.
void rendezvous_host::flush() {
  patience limit(flush_limit_ms);
  for (;;) {
    std::vector<pollfd> watched;
    for (const auto& g : guests_) {
      if (!g || !g->link.problem().empty()) continue;
      g->link.pump();
      if (!g->link.flushed()) watched.push_back({g->link.fd(), POLLOUT, 0});
    }
    if (watched.empty() || limit.over()) return;
    (void)limit.wait(watched);
  }
}

}  // namespace heddle::bootstrap
