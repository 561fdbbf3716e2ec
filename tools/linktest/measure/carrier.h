// SPDX-License-Identifier: BSD-3-Clause
// carrier.h - what the messages that are timed travel by: one operation of the library each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "linktest/measure/messenger.h"

namespace heddle::linktest {

/// Where one side's messages come from and go to.
struct kernel_buffers {
  std::span<std::byte> send;     ///< one message
  std::span<std::byte> receive;  ///< one or more slots of send.size() bytes
};

/// Something that has to know a visit's memory before its first message.
class prepared {
 public:
  virtual ~prepared() = default;
  /// Both sides of a visit call it, untimed, before they measure. Both have their buffers at the
  /// same place of their memory. `number` is the visit's.
  virtual status prepare(messenger& wire, rank peer, std::uint64_t number,
                         const kernel_buffers& buffers) = 0;
};

/// Messages that arrive in the buffers of both sides, by an operation other than send.
class told_path : public message_path, public prepared {};

/// One side reads what the other one has, which does nothing for it.
class fetch_path : public prepared {
 public:
  /// Reads the message of `peer` into `into`.
  virtual status fetch(rank peer, std::span<std::byte> into) = 0;
  /// Reads it `count` times with at most `window` >= 1 reads in flight, the i-th into slot i modulo
  /// the number of slots.
  virtual status fetch_burst(rank peer, std::span<std::byte> slots, std::size_t bytes,
                             std::uint64_t count, std::uint64_t window) = 0;
};

/// None: the messages of the wire itself.
using carrier = std::variant<std::monostate, told_path*, fetch_path*>;

/// The ways between a rank and the others.
struct ways {
  ways(messenger& words, carrier messages = {})
      : wire(words), data(messages) {}  // NOLINT: one is enough
  messenger& wire;                      ///< for what is said about a measurement
  carrier data;                         ///< for the messages that are timed

  [[nodiscard]] status prepare(rank peer, std::uint64_t number,
                               const kernel_buffers& buffers) const {
    if (auto* const told = std::get_if<told_path*>(&data))
      return (*told)->prepare(wire, peer, number, buffers);
    if (auto* const fetch = std::get_if<fetch_path*>(&data))
      return (*fetch)->prepare(wire, peer, number, buffers);
    return status::done;
  }
};

}  // namespace heddle::linktest
