// SPDX-License-Identifier: BSD-3-Clause
// op.h - one operation that the engine gives to an endpoint.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "memory/region_table.h"
#include "transport/remote_lane.h"

namespace heddle::transport {

enum class op_kind : std::uint8_t {
  send,
  put,
  get,
  atomic,
  receive,  ///< takes what the peer's lane delivers under op::operand, and ends when it is there
  deliver,  ///< goes where the peer's lane receives under op::operand, now or later, and ends when
            ///< its memory may be used again. Neither is refused nor fails but with the peer
};
using op_set = std::uint8_t;
constexpr op_set only(op_kind k) {
  return static_cast<op_set>(1u << static_cast<unsigned>(k));
}

/// The first bytes of every message: the engine's, which makes and reads them.
struct message_head {
  std::uint64_t first = 0, word = 0;
};

/// Where peers' cards find a region, as its owner's device says: who is told of it need not ask.
struct region_place {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t by = 0;  ///< which of its owner's devices says so; 0: none does
};

/// One operation, of any kind: what a wire needs to know, and the wire's own notes of it.
///
/// It is the engine's, and part of whatever the engine keeps of the operation. From post() until
/// the operation is over it stays where it is, and so does the memory that its spans name; only the
/// backend touches it then. An operation that needs no event is over when post() returns.
struct op {
  op_kind kind = op_kind::send;
  atomic_op atomic = atomic_op::add;
  std::uint8_t width = 8;  ///< atomic: 4 or 8 bytes
  bool over = false;       ///< set by post() of an accepted op that is done: no event follows
  /// put of a byte at least, where traits::put_tells: once its bytes are there, a message of `head`
  /// and `header` arrives at `to`, in no order with others; none arrives when the put fails. Where
  /// the wire cannot do that for this put, post() clears it and leaves the op under way: the engine
  /// sends the message when the put has ended.
  bool tells = false;
  remote_lane* to =
      nullptr;  ///< of the endpoint that gets the op; put, get, atomic: any of the peer
  /// send, put, deliver: what to move, only read. get, receive: where to. atomic: `width` bytes, or
  /// empty. A receive and its delivery are equally long, at most traits::max_op.
  std::span<std::byte> memory;
  memory::region_ref region;  ///< put, get, atomic: where at the peer
  std::uint64_t offset = 0;
  region_place place;  ///< of the region, where its owner has told it; a hint, and the peer's word
  /// receive, deliver: `operand` is the number that both name, at one time for one of each between
  /// two lanes.
  std::uint64_t operand = 0, compare = 0;
  /// send: the message is `head`, `header` and `memory`, together at most traits::max_message.
  message_head head;
  std::span<const std::byte> header;

  static constexpr std::size_t scratch_bytes = 48;
  /// The backend's notes of an accepted op, begun anew. They need no destructor.
  template <class T>
  T& make_notes() noexcept {
    check_notes<T>();
    return *std::construct_at(reinterpret_cast<T*>(scratch_.data()));
  }
  /// What make_notes() made.
  template <class T>
  [[nodiscard]] T& notes() noexcept {
    check_notes<T>();
    return *std::launder(reinterpret_cast<T*>(scratch_.data()));
  }

 private:
  template <class T>
  static constexpr void check_notes() noexcept {
    static_assert(sizeof(T) <= scratch_bytes);
    static_assert(alignof(T) <= alignof(std::max_align_t));
    static_assert(std::is_trivially_destructible_v<T>);
  }
  alignas(std::max_align_t) std::array<std::byte, scratch_bytes> scratch_;
};

/// Bytes of a send.
[[nodiscard]] inline std::size_t message_bytes(const op& o) noexcept {
  return sizeof o.head + o.header.size() + o.memory.size();
}

/// What a put or send moves away is never written, but op::memory has one type for both ways.
[[nodiscard]] inline std::span<std::byte> only_read(std::span<const std::byte> data) noexcept {
  return {const_cast<std::byte*>(data.data()), data.size()};
}

}  // namespace heddle::transport
