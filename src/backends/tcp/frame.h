// SPDX-License-Identifier: BSD-3-Clause
// frame.h - the frames of a tcp connection: what travels after the handshake (docs/design/tcp.md).
//
// Every frame is a header of fixed size, known from its first byte, and then `payload` bytes.
// All integers are little-endian; bytes without a meaning are zero, and checked to be.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/tcp/bytes.h"

namespace heddle::transport::tcp {

enum class frame_kind : std::uint8_t {
  message = 1,  ///< payload: a whole message
  put,          ///< payload: bytes for `offset` of region {slot, generation}
  put_ack,      ///< the next `count` puts, in the order of their last frames, ended with `code`
  get,          ///< asks for `bytes` from `offset` of a region, as request `id`
  get_data,     ///< payload: the next bytes of request `id`
  atomic,       ///< asks for an atomic on a region, as request `id`
  reply,        ///< request `id` ended with `code`; atomic: `value` was there before
  bye,          ///< nothing follows: the sender ends in order, or uses another connection
  chosen,       ///< first on a connection, from the lower rank: this is the one that is used
  notice,       ///< payload: a whole message, which counts only if the put before it is done
};

/// put, of several frames: belongs to the one put of this connection that is under way.
inline constexpr std::uint8_t flag_part = 1;
/// put: the last frame of its put, which is acknowledged for it.
inline constexpr std::uint8_t flag_last = 2;
/// get_data: all bytes of the request are in this frame, and no reply follows.
inline constexpr std::uint8_t flag_whole = 4;

inline constexpr std::size_t max_message = 64 * 1024;          ///< payload of one message
inline constexpr std::size_t max_notice = 128;                 ///< payload of one notice
inline constexpr std::size_t max_fragment = 16 * 1024 * 1024;  ///< payload of one put or get_data
inline constexpr std::size_t common_header = 8;                ///< as long as the shortest header
inline constexpr std::size_t max_header = 40;
/// Unanswered gets and atomics one side may have on a connection. More: the other side hangs up.
inline constexpr std::size_t request_window = 1024;
/// Unacknowledged puts, likewise.
inline constexpr std::size_t put_window = 8192;

/// A header, decoded. Which members mean something depends on `kind`; the others are zero.
struct frame {
  frame_kind kind = frame_kind::bye;
  std::uint8_t flags = 0;
  status code = status::done;
  atomic_op atomic = atomic_op::add;
  std::uint8_t width = 0;                  ///< atomic: 4 or 8 bytes
  std::uint32_t payload = 0;               ///< bytes that follow the header
  std::uint32_t id = 0;                    ///< get, get_data, atomic, reply: chosen by who asks
  std::uint32_t count = 0;                 ///< put_ack: at least 1
  std::uint32_t slot = 0, generation = 0;  ///< put, get, atomic: the region
  std::uint64_t offset = 0;                ///< put, get, atomic: in the region
  std::uint64_t bytes = 0;                 ///< get
  std::uint64_t operand = 0, compare = 0;  ///< atomic
  std::uint64_t value = 0;                 ///< reply
};

/// Header bytes of a frame that starts with `kind`; 0: there is no such frame.
[[nodiscard]] constexpr std::size_t header_bytes(std::uint8_t kind) noexcept {
  constexpr std::array<std::uint8_t, 11> sizes{0, 8, 24, 8, 32, 16, 40, 16, 8, 8, 8};
  return kind < sizes.size() ? sizes[kind] : 0;
}

enum class verdict : std::uint8_t {
  frame,  ///< a complete header, and everything in it is allowed
  more,   ///< too few bytes to tell
  bad,    ///< never part of a stream that keeps the rules: hang up
};

/// Decodes the header at the front of `bytes`, which a peer sent. Total: every input has an answer.
/// Region, offset, bytes and id are only known to be well-formed; whoever uses them checks them.
/// Fills `head`, which is as it was made, when there is a frame.
[[nodiscard]] verdict parse_frame(std::span<const std::byte> bytes, frame& head) noexcept;

struct parsed {
  verdict is = verdict::more;
  frame head;
};
[[nodiscard]] inline parsed parse_frame(std::span<const std::byte> bytes) noexcept {
  parsed out;
  out.is = parse_frame(bytes, out.head);
  return out;
}

// Writers: put a header at `at`, which has room for it, and return its length.

inline std::size_t write_common(std::byte* at, frame_kind kind, std::uint8_t a, std::uint8_t b,
                                std::uint32_t d) noexcept {
  const auto first =
      static_cast<std::uint32_t>(kind) | std::uint32_t{a} << 8 | std::uint32_t{b} << 16;
  store_le<std::uint64_t>(at, first | std::uint64_t{d} << 32);
  return common_header;
}

inline std::size_t write_message(std::byte* at, std::uint32_t payload) noexcept {
  return write_common(at, frame_kind::message, 0, 0, payload);
}

inline std::size_t write_notice(std::byte* at, std::uint32_t payload) noexcept {
  return write_common(at, frame_kind::notice, 0, 0, payload);
}

inline std::size_t write_put(std::byte* at, std::uint8_t flags, std::uint32_t slot,
                             std::uint32_t generation, std::uint64_t offset,
                             std::uint32_t payload) noexcept {
  write_common(at, frame_kind::put, flags, 0, payload);
  store_le(at + 8, slot);
  store_le(at + 12, generation);
  store_le(at + 16, offset);
  return 24;
}

inline std::size_t write_put_ack(std::byte* at, status code, std::uint32_t count) noexcept {
  return write_common(at, frame_kind::put_ack, static_cast<std::uint8_t>(code), 0, count);
}

inline std::size_t write_get(std::byte* at, std::uint32_t id, std::uint32_t slot,
                             std::uint32_t generation, std::uint64_t offset,
                             std::uint64_t bytes) noexcept {
  write_common(at, frame_kind::get, 0, 0, id);
  store_le(at + 8, slot);
  store_le(at + 12, generation);
  store_le(at + 16, offset);
  store_le(at + 24, bytes);
  return 32;
}

inline std::size_t write_get_data(std::byte* at, std::uint8_t flags, std::uint32_t id,
                                  std::uint32_t payload) noexcept {
  write_common(at, frame_kind::get_data, flags, 0, payload);
  store_le<std::uint64_t>(at + 8, id);
  return 16;
}

/// Of `f`: atomic, width, id, slot, generation, offset, operand, compare.
inline std::size_t write_atomic(std::byte* at, const frame& f) noexcept {
  write_common(at, frame_kind::atomic, static_cast<std::uint8_t>(f.atomic), f.width, f.id);
  store_le(at + 8, f.slot);
  store_le(at + 12, f.generation);
  store_le(at + 16, f.offset);
  store_le(at + 24, f.operand);
  store_le(at + 32, f.compare);
  return 40;
}

inline std::size_t write_reply(std::byte* at, status code, std::uint32_t id,
                               std::uint64_t value) noexcept {
  write_common(at, frame_kind::reply, static_cast<std::uint8_t>(code), 0, id);
  store_le(at + 8, value);
  return 16;
}

inline std::size_t write_bye(std::byte* at) noexcept {
  return write_common(at, frame_kind::bye, 0, 0, 0);
}

inline std::size_t write_chosen(std::byte* at) noexcept {
  return write_common(at, frame_kind::chosen, 0, 0, 0);
}

}  // namespace heddle::transport::tcp
