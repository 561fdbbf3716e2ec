// SPDX-License-Identifier: BSD-3-Clause
// circle_link.h - a socket between two ranks of a host: whole frames, as in launcher_protocol.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/fd.h"
#include "bootstrap/launcher_protocol.h"
#include "bootstrap/patience.h"

namespace heddle::bootstrap {

/// One thread. Blocks.
class circle_link {
 public:
  /// Longer payloads than `max_payload` end it. Sending gives up after `limit_ms`; 0: never.
  circle_link(unique_fd socket, std::size_t max_payload, std::uint64_t limit_ms);

  /// What cannot be sent is not: the other one is gone, or waited for in vain, and receive() tells.
  void send(protocol::frame_kind kind, std::span<const std::byte> payload) noexcept;
  /// A frame without payload, and a descriptor, which stays the caller's.
  void send_file(protocol::frame_kind kind, int file) noexcept;
  /// Nothing: it is gone, speaks another protocol, or has said nothing within the limit.
  [[nodiscard]] std::optional<protocol::frame> receive(patience limit);
  /// The descriptor that came last, with the last frame or before it; none: none came.
  [[nodiscard]] unique_fd take_file() noexcept { return std::move(file_); }
  /// The other end is a process of our user.
  [[nodiscard]] bool is_ours() const noexcept;

 private:
  unique_fd socket_;
  protocol::frame_parser parser_;
  unique_fd file_;
};

}  // namespace heddle::bootstrap
