// SPDX-License-Identifier: BSD-3-Clause
// passed_file.h - a descriptor that travels with bytes on a stream socket between processes.
#pragma once
#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/fd.h"

namespace heddle::bootstrap {

/// As send(), once; `file` goes along with what is sent, if anything is, and stays the caller's.
[[nodiscard]] inline ssize_t send_with_file(int socket, std::span<const std::byte> bytes, int file,
                                            int flags = 0) noexcept {
  iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};
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
  return sendmsg(socket, &message, MSG_NOSIGNAL | flags);
}

/// Why the table of all ranks' addresses that was announced has not come along.
inline constexpr const char* no_room_for_table =
    "the table of all ranks' addresses cannot be taken over: no descriptors left (ulimit -n)?";

struct received {
  ssize_t bytes;  ///< as recv() returns
  bool no_room;   ///< a descriptor did not come, since this process may have no more of them
};

/// As recv(); a descriptor that comes along goes to `file`.
[[nodiscard]] inline received receive_with_file(int socket, std::span<std::byte> into,
                                                unique_fd& file, int flags = 0) noexcept {
  iovec data{into.data(), into.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
  const received result{got, got > 0 && (message.msg_flags & MSG_CTRUNC) != 0};
  const cmsghdr* attached = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (attached == nullptr || attached->cmsg_level != SOL_SOCKET ||
      attached->cmsg_type != SCM_RIGHTS || attached->cmsg_len != CMSG_LEN(sizeof(int)))
    return result;
  int came = -1;
  std::memcpy(&came, CMSG_DATA(attached), sizeof came);
  file.reset(came);
  return result;
}

}  // namespace heddle::bootstrap
