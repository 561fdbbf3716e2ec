// SPDX-License-Identifier: BSD-3-Clause
// parcel.h - messages that travel together: one behind the other in one buffer, each behind its
// length.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/copy.h"
#include "transport/op.h"

namespace heddle::transport::verbs {

/// The messages of one, first to last. Its bytes are the peer's: nothing of them is believed.
class parcel {
 public:
  static constexpr std::size_t most_bytes = 4096;
  static constexpr std::size_t length_bytes = sizeof(std::uint64_t);
  /// What a message takes of it; each begins at a multiple of 8.
  [[nodiscard]] static constexpr std::size_t bytes_of(std::size_t message) noexcept {
    return (length_bytes + message + 7) / 8 * 8;
  }
  /// Adds one at `at`, where there is room for it.
  static void write(std::byte* at, message_head head, std::span<const std::byte> header,
                    std::span<const std::byte> data) noexcept {
    const std::uint64_t length = sizeof head + header.size() + data.size();
    std::memset(at + bytes_of(length) - 8, 0, 8);  // what the buffer had before is nobody's
    std::memcpy(at, &length, sizeof length);
    at += sizeof length;
    std::memcpy(at, &head, sizeof head);
    copy_few(at + sizeof head, header);
    copy_few(at + sizeof head + header.size(), data);
  }

  parcel() = default;
  explicit parcel(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}
  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
  /// The next message. Empty: what is left is none, and then nothing is left.
  [[nodiscard]] std::span<const std::byte> next() noexcept {
    std::uint64_t length = 0;
    if (rest_.size() >= sizeof length) std::memcpy(&length, rest_.data(), sizeof length);
    if (length == 0 || length > rest_.size() - sizeof length) {
      rest_ = {};
      return {};
    }
    const auto message = rest_.subspan(sizeof length, length);
    const std::size_t all = bytes_of(length);
    rest_ = all < rest_.size() ? rest_.subspan(all) : std::span<const std::byte>();
    return message;
  }

 private:
  std::span<const std::byte> rest_;
};

/// Bytes with the engine's head.
inline constexpr std::size_t max_message = parcel::most_bytes - parcel::length_bytes;

}  // namespace heddle::transport::verbs
