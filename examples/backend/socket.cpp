// SPDX-License-Identifier: BSD-3-Clause
#include "socket.h"

#include <heddle/status.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace unix_backend {
namespace {

/// A leading null makes a name that no file has and that goes with its socket.
struct address {
  sockaddr_un bytes{};
  socklen_t length = 0;

  explicit address(const std::string& name) {
    bytes.sun_family = AF_UNIX;
    const std::size_t used = std::min(name.size(), sizeof bytes.sun_path - 1);
    std::memcpy(bytes.sun_path + 1, name.data(), used);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + used);
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

sent answer(ssize_t result) noexcept {
  if (result >= 0) return sent::yes;
  const bool full = errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == EINTR;
  return full ? sent::full : sent::refused;
}

iovec part(std::span<const std::byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string name_of(std::uint64_t process, int lane) {
  return "heddle-unix-" + std::to_string(process) + "-" + std::to_string(lane);
}

socket::socket() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  if (fd_ < 0) throw heddle::error("unix: no descriptors left (ulimit -n)");
}

socket::~socket() {
  if (fd_ >= 0) ::close(fd_);
}

socket::socket(socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

void socket::bind(const std::string& name) {
  const address here(name);
  if (::bind(fd_, here.get(), here.length) != 0)
    throw heddle::error("unix: bind " + name + ": " + std::strerror(errno));
}

bool socket::connect(const std::string& name) noexcept {
  const address there(name);
  return ::connect(fd_, there.get(), there.length) == 0;
}

sent socket::send(const head& h, const heddle::transport::op& o) noexcept {
  std::array<iovec, 4> parts{part(std::as_bytes(std::span(&h, 1))),
                             part(std::as_bytes(std::span(&o.head, 1))), part(o.header),
                             part(o.memory)};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return answer(::sendmsg(fd_, &message, MSG_NOSIGNAL));
}

sent socket::send_to(const std::string& name, const head& h) noexcept {
  const address there(name);
  return answer(::sendto(fd_, &h, sizeof h, MSG_NOSIGNAL, there.get(), there.length));
}

std::size_t socket::receive(std::span<std::byte> into) noexcept {
  const ssize_t got = ::recv(fd_, into.data(), into.size(), 0);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

}  // namespace unix_backend
