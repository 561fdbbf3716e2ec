// SPDX-License-Identifier: BSD-3-Clause
// socket.cpp - the few socket calls the tcp backend makes.
#include "backends/tcp/socket.h"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/timer.h"

namespace heddle::transport::tcp {
namespace {

constexpr int listen_backlog = 1024;

int native_family(const rail_address& a) noexcept {
  return a.family == 4 ? AF_INET : AF_INET6;
}

unique_fd stream_socket(const rail_address& a) noexcept {
  return unique_fd(
      ::socket(native_family(a), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
}

void set_option(int fd, int level, int name, int value) noexcept {
  // An option the kernel does not know costs speed at most, so its refusal is no error.
  (void)::setsockopt(fd, level, name, &value, sizeof value);
}

bool is_within_host(int fd) noexcept {
  socket_address near, far;
  near.length = far.length = sizeof near.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&near.storage), &near.length) != 0)
    return false;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&far.storage), &far.length) != 0) return false;
  const auto ours = from_socket(near.get()), theirs = from_socket(far.get());
  return ours && theirs && (ours->ip == theirs->ip || theirs->loopback());
}

template <class Call>
transferred attempt(Call call) noexcept {
  using enum transferred::kind_t;
  for (;;) {
    const ssize_t n = call();
    if (n > 0) return {static_cast<std::size_t>(n), some};
    if (n == 0) return {0, ended};
    if (errno == EINTR) continue;
    return {0, errno == EAGAIN || errno == EWOULDBLOCK ? none : broken, errno};
  }
}

msghdr message_of(std::span<iovec> parts) noexcept {
  msghdr m{};
  m.msg_iov = parts.data();
  m.msg_iovlen = parts.size();
  return m;
}

}  // namespace

transferred receive(int fd, std::span<std::byte> into) noexcept {
  return attempt([&] { return ::recv(fd, into.data(), into.size(), MSG_DONTWAIT); });
}

transferred receive(int fd, std::span<iovec> into) noexcept {
  msghdr m = message_of(into);
  return attempt([&] { return ::recvmsg(fd, &m, MSG_DONTWAIT); });
}

transferred transmit(int fd, std::span<const std::byte> from) noexcept {
  return attempt([&] { return ::send(fd, from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
}

transferred transmit(int fd, std::span<iovec> from) noexcept {
  const msghdr m = message_of(from);
  return attempt([&] { return ::sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL); });
}

unique_fd listen_at(rail_address& where) {
  unique_fd fd = stream_socket(where);
  if (!fd) fail_errno(errno, "tcp: open a socket for {}", where.text());
  const socket_address at = to_socket(where);
  if (::bind(fd.get(), at.get(), at.length) != 0)
    fail_errno(errno, "tcp: bind to {}", where.text());
  if (::listen(fd.get(), listen_backlog) != 0) fail_errno(errno, "tcp: listen at {}", where.text());
  socket_address bound;
  bound.length = sizeof bound.storage;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.length) != 0)
    fail_errno(errno, "tcp: find the port of {}", where.text());
  where.port = from_socket(bound.get())->port;
  return fd;
}

// Connections of an earlier job that are not quite over do not count. With this option two may bind
// to a port, but only one gets to listen.
unique_fd try_to_listen_at(const rail_address& where) {
  unique_fd fd = stream_socket(where);
  if (!fd) fail_errno(errno, "tcp: open a socket for {}", where.text());
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  const socket_address at = to_socket(where);
  if (::bind(fd.get(), at.get(), at.length) == 0 && ::listen(fd.get(), listen_backlog) == 0)
    return fd;
  if (errno != EADDRINUSE) fail_errno(errno, "tcp: listen at {} port {}", where.text(), where.port);
  return {};
}

unique_fd connect_to(const std::optional<rail_address>& from, const rail_address& to) noexcept {
  unique_fd fd = stream_socket(to);
  if (!fd) return {};
  if (from) {
    set_option(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    rail_address source = *from;
    source.port = 0;
    const socket_address near = to_socket(source);
    if (::bind(fd.get(), near.get(), near.length) != 0) return {};
  }
  const socket_address far = to_socket(to);
  if (::connect(fd.get(), far.get(), far.length) == 0) return fd;
  // EINTR: the connection goes on being made, as after EINPROGRESS.
  return errno == EINPROGRESS || errno == EINTR ? std::move(fd) : unique_fd{};
}

unique_fd accept_from(int listener) noexcept {
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 || errno != EINTR) return unique_fd(fd);
  }
}

bool has_hung_up(int fd) noexcept {
  std::byte next;
  const transferred t = attempt([&] { return ::recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT); });
  return t.kind == transferred::kind_t::ended || t.kind == transferred::kind_t::broken;
}

void tune(int fd, std::uint64_t timeout_ms) noexcept {
  // The system's choice may be BBR, which halves the bandwidth of whoever waits for answers.
  if (is_within_host(fd)) (void)::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
  const auto ms = static_cast<int>(std::clamp<std::uint64_t>(timeout_ms, 1000, 3'600'000));
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, ms / 2000));
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, ms / 8000));
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, ms);
}

void close_softly(unique_fd fd) noexcept {
  if (!fd) return;
  (void)::shutdown(fd.get(), SHUT_WR);
  std::array<std::byte, 16 * 1024> unread;
  constexpr int most_reads = 1024;  // a peer that keeps sending does not keep us
  for (int i = 0; i < most_reads; ++i) {
    if (receive(fd.get(), std::span(unread)).kind != transferred::kind_t::some) return;
  }
}

unique_fd make_epoll() {
  unique_fd fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!fd) fail_errno(errno, "tcp: epoll_create1");
  return fd;
}

unique_fd make_eventfd() {
  unique_fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) fail_errno(errno, "tcp: eventfd");
  return fd;
}

unique_fd make_timer() {
  unique_fd fd = heddle::make_timer();
  if (!fd) fail_errno(errno, "tcp: timerfd_create");
  return fd;
}

void set_timer(int fd, std::uint64_t ms) noexcept {
  heddle::set_timer(fd, ms * 1'000'000);
}

bool watch(int epoll, int fd, std::uint32_t before, std::uint32_t events, void* what) noexcept {
  if (before == events) return true;
  epoll_event e{};
  e.events = events;
  e.data.ptr = what;
  const int change = before == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  return ::epoll_ctl(epoll, change, fd, &e) == 0;
}

}  // namespace heddle::transport::tcp
