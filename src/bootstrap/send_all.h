// SPDX-License-Identifier: BSD-3-Clause
// send_all.h - writing to a socket that blocks.
#pragma once
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <span>

namespace heddle::bootstrap {

/// Sends all of `bytes`. False: the socket is broken, or its time limit is over, as errno says.
[[nodiscard]] inline bool send_all(int socket, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace heddle::bootstrap
