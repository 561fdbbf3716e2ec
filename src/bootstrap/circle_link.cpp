// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/circle_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <new>

#include "bootstrap/passed_file.h"
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
    const auto bytes = protocol::encode(kind, {});
    ssize_t sent = 0;
    do {
      sent = send_with_file(socket_.get(), bytes, file);
    } while (sent < 0 && errno == EINTR);
    if (sent > 0)
      (void)send_all(socket_.get(), std::span(bytes).subspan(static_cast<std::size_t>(sent)));
  } catch (const std::bad_alloc&) {
    socket_.reset();  // the other end sees that
  }
}

std::optional<protocol::frame> circle_link::receive(patience limit) {
  std::array<std::byte, 65536> buffer;
  for (;;) {
    if (auto got = parser_.next()) return got;
    if (parser_.broken() || !socket_) return {};
    std::array<pollfd, 1> news{{{socket_.get(), POLLIN, 0}}};
    while (!limit.wait(news))
      if (limit.over()) return {};
    const ssize_t got = receive_with_file(socket_.get(), buffer, file_).bytes;
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
