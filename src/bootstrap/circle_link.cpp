#include "bootstrap/circle_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "bootstrap/send_all.h"

namespace heddle::bootstrap {

circle_link::circle_link(unique_fd socket, std::size_t max_payload, std::uint64_t limit_ms)
    : socket_(std::move(socket)), parser_(max_payload) {
  (void)fcntl(socket_.get(), F_SETFL, 0);
  timeval limit{};
  limit.tv_sec = static_cast<time_t>(limit_ms / 1000);
  limit.tv_usec = static_cast<suseconds_t>(limit_ms % 1000 * 1000);
  (void)setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

void circle_link::send(protocol::frame_kind kind, std::span<const std::byte> payload) noexcept {
  try {
    (void)send_all(socket_.get(), protocol::encode(kind, payload));  // receive() finds a broken one
  } catch (const std::bad_alloc&) {
    socket_.reset();  // the other end sees that
  }
}

void circle_link::send_file(protocol::frame_kind kind, int file) noexcept {
  try {
    auto bytes = protocol::encode(kind, {});
    iovec data{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof file)> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* attached = CMSG_FIRSTHDR(&message);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(attached), &file, sizeof file);
    ssize_t sent = 0;
    do {
      sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent > 0)
      (void)send_all(socket_.get(), std::span(bytes).subspan(static_cast<std::size_t>(sent)));
  } catch (const std::bad_alloc&) {
    socket_.reset();  // the other end sees that
  }
}

/// As recv(), and keeps a descriptor that comes along.
ssize_t circle_link::receive_some(std::span<std::byte> into) noexcept {
  iovec data{into.data(), into.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* attached = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (attached != nullptr && attached->cmsg_level == SOL_SOCKET &&
      attached->cmsg_type == SCM_RIGHTS && attached->cmsg_len == CMSG_LEN(sizeof(int))) {
    int file = -1;
    std::memcpy(&file, CMSG_DATA(attached), sizeof file);
    file_.reset(file);
  }
  return got;
}

std::optional<protocol::frame> circle_link::receive(patience limit) {
  std::array<std::byte, 65536> buffer;
  for (;;) {
    if (auto got = parser_.next()) return got;
    if (parser_.broken() || !socket_) return {};
    std::array<pollfd, 1> news{{{socket_.get(), POLLIN, 0}}};
    while (!limit.wait(news))
      if (limit.over()) return {};
    const ssize_t got = receive_some(buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    parser_.push(std::span(buffer).first(static_cast<std::size_t>(got)));
  }
}

bool circle_link::is_ours() const noexcept {
  ucred other{};
  socklen_t length = sizeof other;
  return getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 &&
         other.uid == geteuid();
}

}  // namespace heddle::bootstrap
