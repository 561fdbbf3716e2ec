// SPDX-License-Identifier: BSD-3-Clause
// rendezvous_protocol.h - what rank 0 and the others say to each other in a rendezvous: a kind, and
// what belongs to it, as in launcher_protocol.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "bootstrap/launcher_protocol.h"

namespace heddle::bootstrap::rendezvous_protocol {

using protocol::frame;
using protocol::frame_kind;

/// For a guest's proof, from when it was accepted, while others wait for its place. Otherwise a
/// rank that has no core may take as long as it does.
inline constexpr std::uint64_t proof_limit_ns = 1'000'000'000;

inline constexpr std::size_t most_from_guest = 1 + protocol::max_blob_bytes;
[[nodiscard]] constexpr std::size_t most_from_host(int size) noexcept {
  return 1 + protocol::max_everything(static_cast<std::size_t>(size)) + protocol::max_text_bytes;
}

[[nodiscard]] inline std::vector<std::byte> message(frame_kind kind,
                                                    std::span<const std::byte> payload) {
  std::vector<std::byte> bytes{static_cast<std::byte>(kind)};
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}
/// Nothing for no bytes; any kind otherwise.
[[nodiscard]] inline std::optional<frame> parse(std::span<const std::byte> message) {
  if (message.empty()) return {};
  return frame{static_cast<frame_kind>(message.front()), {message.begin() + 1, message.end()}};
}

/// The payload of `join`, in the byte order of the machine: all ranks of a job share one.
struct request {
  std::int32_t rank = 0;
  std::int32_t size = 0;
};
[[nodiscard]] inline std::vector<std::byte> encode(const request& r) {
  const auto bytes = std::as_bytes(std::span(&r, 1));
  return {bytes.begin(), bytes.end()};
}
[[nodiscard]] inline std::optional<request> decode_request(std::span<const std::byte> payload) {
  request r;
  if (payload.size() != sizeof r) return {};
  std::memcpy(&r, payload.data(), sizeof r);
  return r;
}

}  // namespace heddle::bootstrap::rendezvous_protocol
