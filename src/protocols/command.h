// SPDX-License-Identifier: BSD-3-Clause
// command.h - one request of the program to a lane, of any kind: the descriptor all paths share.
#pragma once
#include <heddle/completion.h>
#include <heddle/matched_message.h>
#include <heddle/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/remote_memory.h"
#include "transport/op.h"

namespace heddle::protocols {

struct unexpected;

enum class command_kind : std::uint8_t {
  put,         // up to atomic: accesses to a region
  put_notify,  ///< operand: the value the handler gets
  put_signal,  ///< and then `atomic` with `operand` on `signal`
  get,
  atomic,
  send,
  recv,
  call,
  flush,       ///< done when the puts, gets and atomics before it to `peer` (any_source: to
               ///< anybody) have ended
  when_ready,  ///< done when there is room for another command
  match,       ///< takes a message out of matching, into `taken`
  recv_taken,  ///< receives `message`, which was taken
};

/// For tables by kind.
inline constexpr std::size_t command_kinds = static_cast<std::size_t>(command_kind::recv_taken) + 1;
constexpr std::size_t index_of(command_kind k) noexcept {
  return static_cast<std::size_t>(k);
}

/// The word that is changed once the data of a put is there, 8 bytes of a region of the same peer.
struct signal_word {
  const memory::remote_memory* target;
  std::uint64_t offset;
};

/// Trivially copyable, so that it can wait in a ring. What it points to stays the caller's until
/// the completion. Small, so that handing one to another thread costs two cache lines; what a put,
/// get or addition begins with is in the first of them.
struct command {
  command() noexcept;
  command_kind kind = command_kind::put;
  atomic_op atomic = atomic_op::add;
  std::uint8_t width = 8;
  bool stamped = false;  ///< somebody wants to know when it is executed
  handler_id handler = 0;
  std::int16_t lane = same_lane;  ///< send, call: of the peer
  rank peer = any_source;
  /// put, send, call: what to move, only read. get, recv: where it goes. atomic: where the old
  /// value goes, or empty.
  std::span<std::byte> memory;
  union {
    const memory::remote_memory* target = nullptr;  ///< put, get, atomic
    detail::taken_message* taken;                   ///< match
    unexpected* message;                            ///< recv_taken
  };
  std::uint64_t offset = 0;
  std::uint64_t operand = 0;
  union {
    std::span<const std::byte> header{};  ///< call
    signal_word signal;                   ///< put_signal
  };
  std::uint64_t compare = 0;
  tag_match match{0};  ///< recv; send: value is the tag
  completion done;
};
static_assert(sizeof(command) <= 120);
/// Out of the class: defaulted in it, `command{}` would be cleared first, in one piece.
inline command::command() noexcept = default;

/// What a put, get or atomic is to a wire.
inline transport::op_kind native_kind(command_kind k) noexcept {
  if (k == command_kind::get) return transport::op_kind::get;
  return k == command_kind::atomic ? transport::op_kind::atomic : transport::op_kind::put;
}

using transport::only_read;

/// No lane that there can be is cut off: a larger number stays one that nobody has.
inline void aim(command& made, destination to) noexcept {
  made.peer = to.to;
  made.lane = static_cast<std::int16_t>(std::clamp<int>(to.lane, same_lane - 1, INT16_MAX));
}
[[nodiscard]] inline destination aim_of(const command& c) noexcept {
  return {c.peer, c.lane};
}

/// A put, get or atomic, or a part of what describes one.
inline command access_command(command_kind kind, const memory::remote_memory* target,
                              std::uint64_t offset, std::span<std::byte> memory,
                              const completion& done) noexcept {
  command made;
  made.kind = kind;
  made.target = target;
  made.peer = target != nullptr ? target->owner : any_source;
  made.offset = offset;
  made.memory = memory;
  made.done = done;
  return made;
}

inline command send_command(destination to, tag t, std::span<const std::byte> data,
                            const completion& done) noexcept {
  command made;
  made.kind = command_kind::send;
  aim(made, to);
  made.match = t;
  made.memory = only_read(data);
  made.done = done;
  return made;
}

inline command receive_command(rank from, const tag_match& t, std::span<std::byte> into,
                               const completion& done) noexcept {
  command made;
  made.kind = command_kind::recv;
  made.peer = from;
  made.match = t;
  made.memory = into;
  made.done = done;
  return made;
}

inline command match_command(rank from, const tag_match& t, detail::taken_message& into,
                             const completion& done) noexcept {
  command made;
  made.kind = command_kind::match;
  made.peer = from;
  made.match = t;
  made.taken = &into;
  made.done = done;
  return made;
}

inline command receive_taken_command(unexpected& message, std::span<std::byte> into,
                                     const completion& done) noexcept {
  command made;
  made.kind = command_kind::recv_taken;
  made.message = &message;
  made.memory = into;
  made.done = done;
  return made;
}

inline command call_command(destination to, handler_id h, std::span<const std::byte> header,
                            std::span<const std::byte> payload, const completion& done) noexcept {
  command made;
  made.kind = command_kind::call;
  aim(made, to);
  made.handler = h;
  made.header = header;
  made.memory = only_read(payload);
  made.done = done;
  return made;
}

}  // namespace heddle::protocols
