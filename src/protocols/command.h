// command.h - one request of the program to a lane, of any kind: the descriptor all paths share.
#pragma once
#include <heddle/completion.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/remote_memory.h"
#include "transport/op.h"

namespace heddle::protocols {

enum class command_kind : std::uint8_t {
  put,         // up to atomic: accesses to a region
  put_notify,  ///< operand: the value the handler gets
  get,
  atomic,
  send,
  recv,
  call,
  flush,       ///< done when no put, get or atomic to `peer` (any_source: to anybody) is in flight
  when_ready,  ///< done when there is room for another command
};

/// Trivially copyable, so that it can wait in a ring. What it points to stays the caller's until
/// the completion. Small, so that handing one to another thread costs two cache lines.
struct command {
  command_kind kind = command_kind::put;
  atomic_op atomic = atomic_op::add;
  std::uint8_t width = 8;
  bool stamped = false;  ///< somebody wants to know when it is executed
  handler_id handler = 0;
  rank peer = any_source;
  /// put, send, call: what to move, only read. get, recv: where it goes. atomic: where the old
  /// value goes, or empty.
  std::span<std::byte> memory;
  std::span<const std::byte> header;              ///< call
  const memory::remote_memory* target = nullptr;  ///< put, get, atomic
  std::uint64_t offset = 0;
  std::uint64_t operand = 0, compare = 0;
  tag_match match{0};  ///< recv; send: value is the tag
  completion done;
};
static_assert(sizeof(command) <= 120);

/// What a put, get or atomic is to a wire.
inline transport::op_kind native_kind(command_kind k) noexcept {
  if (k == command_kind::get) return transport::op_kind::get;
  return k == command_kind::atomic ? transport::op_kind::atomic : transport::op_kind::put;
}

using transport::only_read;

inline command send_command(rank to, tag t, std::span<const std::byte> data,
                            const completion& done) noexcept {
  command made;
  made.kind = command_kind::send;
  made.peer = to;
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

inline command call_command(rank to, handler_id h, std::span<const std::byte> header,
                            std::span<const std::byte> payload, const completion& done) noexcept {
  command made;
  made.kind = command_kind::call;
  made.peer = to;
  made.handler = h;
  made.header = header;
  made.memory = only_read(payload);
  made.done = done;
  return made;
}

}  // namespace heddle::protocols
