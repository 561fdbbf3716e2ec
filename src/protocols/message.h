// SPDX-License-Identifier: BSD-3-Clause
// message.h - the messages that two engines exchange through a backend's send: layout and parser.
//
// 16 bytes for every message, then an extension whose size the kind gives, then for calls the
// user's header, then the payload. Little-endian. docs/design/protocols.md has the tables.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "transport/op.h"

namespace heddle::protocols {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

enum class message_kind : std::uint8_t {
  tag_eager = 1,  ///< word: tag; payload: the data
  tag_rts,        ///< word: tag; rendezvous: where the data lies (flag: in mappable memory)
  call_eager,     ///< handler, header; payload
  call_rts,       ///< handler, header; rendezvous
  fin,            ///< word: rendezvous id; flag: the status the sender's operation ends with
  credit,         ///< word: bytes of credit given back; 0: the program receives, no more
  ping,           ///< asks for a pong
  pong,
  rma_put,     ///< word: id; access; payload: a fragment, written at offset
  rma_get,     ///< word: id; access: `bytes` at offset, at most one message's worth
  rma_data,    ///< word: id; flag: status; reply.position; payload: what was asked for
  rma_done,    ///< word: id; flag: status; reply.position: bytes written
  rma_atomic,  ///< word: id; flag: atomic_op; width; access; operand, compare
  rma_value,   ///< word: id; flag: status; reply.value: the old value
  cts,         ///< word: rendezvous id; delivery: `bytes` are received under `id`
};
inline constexpr message_kind last_message_kind = message_kind::cts;

/// For tables by kind.
inline constexpr std::size_t message_kinds = static_cast<std::size_t>(last_message_kind) + 1;
constexpr std::size_t index_of(message_kind k) noexcept {
  return static_cast<std::size_t>(k);
}

/// The status in message::flag. It is a peer's: any number gives one.
constexpr status status_of(std::uint8_t flag) noexcept {
  return static_cast<status>(std::min(flag, static_cast<std::uint8_t>(status::closed)));
}

/// One message, taken apart. Which fields mean something depends on the kind.
struct message {
  message_kind kind = message_kind::ping;
  std::uint8_t flag = 0;
  std::uint8_t width = 0;
  handler_id handler = 0;
  std::uint64_t word = 0;
  std::uint32_t slot = 0, generation = 0;  // rendezvous, access: region
  std::uint64_t offset = 0, bytes = 0;     // rendezvous, access; delivery: bytes
  std::uint64_t id = 0;                    // rendezvous, delivery
  transport::region_place place;           // rendezvous: of the region
  std::uint64_t operand = 0, compare = 0;  // rma_atomic
  std::uint64_t position = 0, value = 0;   // reply
  std::span<const std::byte> header;       // calls
  std::span<const std::byte> payload;
};

/// What an RTS says of the data it announces.
struct announcement {
  memory::region_ref ref;
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t id = 0;   ///< the sender's request
  bool mappable = false;  ///< it may be mapped
  transport::region_place place = {};
};
[[nodiscard]] inline announcement announced_by(const message& rts) noexcept {
  return {.ref = {rts.slot, rts.generation},
          .offset = rts.offset,
          .bytes = rts.bytes,
          .id = rts.id,
          .mappable = rts.flag != 0,
          .place = rts.place};
}

inline constexpr std::size_t base_bytes = 16;
inline constexpr std::size_t max_extension = 48;
/// Room a message needs beside its payload, at most.
inline constexpr std::size_t max_overhead = base_bytes + max_extension + max_call_header;

/// The base of a message. Kind 0, flag 1, handler 2, header length 4, width 5, zero 6; word 8.
constexpr transport::message_head head_of(message_kind kind, std::uint8_t flag, handler_id handler,
                                          std::size_t header_bytes, std::uint8_t width,
                                          std::uint64_t word) noexcept {
  return {static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(flag) << 8 |
              static_cast<std::uint64_t>(handler) << 16 |
              static_cast<std::uint64_t>(header_bytes) << 32 |
              static_cast<std::uint64_t>(width) << 40,
          word};
}
/// Of a tagged message that travels whole: nothing but the kind in its first word.
constexpr transport::message_head head_of_tagged(tag t) noexcept {
  return head_of(message_kind::tag_eager, 0, 0, 0, 0, t);
}
constexpr transport::message_head head_of_call(handler_id handler,
                                               std::size_t header_bytes) noexcept {
  return head_of(message_kind::call_eager, 0, handler, header_bytes, 0, 0);
}
/// Of a message of at least base_bytes.
[[nodiscard]] inline transport::message_head read_head(std::span<const std::byte> bytes) noexcept {
  transport::message_head h;
  std::memcpy(&h, bytes.data(), sizeof h);
  return h;
}

/// The bytes that go before the payload.
class prefix {
 public:
  explicit prefix(const message& m) noexcept;
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {buffer_.data(), size_};
  }
  /// The same, as a wire takes it.
  [[nodiscard]] transport::message_head head() const noexcept { return read_head(bytes()); }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept {
    return bytes().subspan(base_bytes);
  }

 private:
  void write(const transport::message_head& head) noexcept {
    std::memcpy(buffer_.data(), &head, sizeof head);
  }
  void append(std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty()) std::memcpy(buffer_.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }

  std::array<std::byte, max_overhead> buffer_;
  std::size_t size_ = base_bytes;
};

/// Total: any bytes give a message whose spans lie inside `bytes`, or false. Fields are checked for
/// form only (kind, header length, handler range); what they refer to is the caller's to check.
[[nodiscard]] bool parse_message(std::span<const std::byte> bytes, message& m) noexcept;

}  // namespace heddle::protocols
