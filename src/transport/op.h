// op.h - one operation that the engine gives to an endpoint.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/region_table.h"

namespace heddle::transport {

enum class op_kind : std::uint8_t { send, put, get, atomic };
using op_set = std::uint8_t;
constexpr op_set only(op_kind k) {
  return static_cast<op_set>(1u << static_cast<unsigned>(k));
}

/// The first bytes of every message: the engine's, which makes and reads them.
struct message_head {
  std::uint64_t first = 0, word = 0;
};

/// One operation, of any kind. The engine owns it; a backend copies what it needs from it.
/// The memory its spans name stays untouched until the op is done.
struct op {
  op_kind kind = op_kind::send;
  atomic_op atomic = atomic_op::add;
  std::uint8_t width = 8;  ///< atomic: 4 or 8 bytes
  rank peer = 0;
  std::uint64_t cookie = 0;           ///< comes back in this op's event
  std::span<const std::byte> header;  ///< send: goes before data; header + data <= max_message
  std::span<const std::byte> data;    ///< send, put: what to move
  std::span<std::byte> into;          ///< get: where to; atomic: `width` bytes or empty
  memory::region_ref region;          ///< put, get, atomic: where at the peer
  std::uint64_t offset = 0;
  std::uint64_t operand = 0, compare = 0;
  bool overtakes = false;  ///< send: may arrive before the bytes of puts that were posted earlier
  status finished = status::posted;  ///< set by post(): done or an error means no event follows
};

}  // namespace heddle::transport
