// SPDX-License-Identifier: BSD-3-Clause
// inspector_socket.h - the name under which a world can be asked, for both sides of the socket.
#pragma once
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace heddle::engine {

/// `number` tells the worlds of a rank apart that one process has beside each other, from 0.
inline std::string inspector_name(int pid, int rank, int size, int number) {
  return fmt::format("heddle-{}-{}-{}-{}", pid, rank, size, number);
}

inline std::pair<sockaddr_un, socklen_t> abstract_address(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;  // the name begins behind a null byte
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
  name.copy(address.sun_path + 1, length);
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length)};
}

}  // namespace heddle::engine
