// SPDX-License-Identifier: BSD-3-Clause
// meeting_point_protocol.h - what rank 0 and the leaders of hosts say to each other at a meeting
// point: a kind, and what belongs to it, as in launcher_protocol.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "bootstrap/launcher_protocol.h"

namespace heddle::bootstrap::meeting_point_protocol {

using protocol::frame;
using protocol::frame_kind;

/// For a guest's proof, from when it was accepted, while others wait for its place. Otherwise a
/// rank that has no core may take as long as it does.
inline constexpr std::uint64_t proof_limit_ns = 1'000'000'000;

/// Before it has proved itself, and of what it gives for its host's ranks.
inline constexpr std::size_t most_from_stranger = 64;
[[nodiscard]] constexpr std::size_t most_from_guest(int size) noexcept {
  return 2 + protocol::max_everything(static_cast<std::size_t>(size)) + protocol::max_text_bytes;
}
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

/// The payload of `join`: the size of the job, then ranks for which the guest speaks, in the byte
/// order of the machine: all ranks of a job share one.
struct request {
  std::int32_t size = 0;
  std::vector<std::int32_t> ranks;
};
[[nodiscard]] inline std::vector<std::byte> encode(const request& r) {
  std::vector<std::int32_t> words{r.size};
  words.insert(words.end(), r.ranks.begin(), r.ranks.end());
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}
/// Nothing unless it names one rank at least.
[[nodiscard]] inline std::optional<request> decode_request(std::span<const std::byte> payload) {
  std::vector<std::int32_t> words(payload.size() / sizeof(std::int32_t));
  if (words.size() < 2 || payload.size() % sizeof(std::int32_t) != 0) return {};
  std::memcpy(words.data(), payload.data(), payload.size());
  return request{words.front(), {words.begin() + 1, words.end()}};
}

}  // namespace heddle::bootstrap::meeting_point_protocol
