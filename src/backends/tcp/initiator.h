// SPDX-License-Identifier: BSD-3-Clause
// initiator.h - our ops on one connection: the frames that ask for them, and the answers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/tcp/requests.h"
#include "backends/tcp/write_queue.h"

namespace heddle::transport::tcp {

/// A put or message of more is sent from where it lies.
inline constexpr std::size_t copy_bytes = 8 * 1024;

class initiator {
 public:
  initiator(shared_state& shared, write_queue& out) noexcept : shared_(shared), out_(out) {}

  /// True when `o`, which is no send, may be begun.
  [[nodiscard]] bool has_room_for(const op& o) const noexcept;
  void begin(op& o) noexcept;
  /// Answers the peer owes us.
  [[nodiscard]] std::size_t owed() const noexcept {
    return requests_.size() + out_.unacknowledged.size();
  }
  /// Everything under way ends as lost.
  void end_all() noexcept;

  // What the peer answers. False: it breaks the rules.

  bool on_put_ack(const frame& f) noexcept;
  bool on_reply(const frame& f) noexcept;
  /// `here` is what has come of the payload.
  bool on_get_data(const frame& f, std::span<const std::byte> here) noexcept;
  /// Where the last `missing` bytes of its payload go.
  [[nodiscard]] std::span<std::byte> place_for(const frame& f, std::size_t missing) noexcept {
    return {requests_.find(f.id)->into - missing, missing};
  }
  /// All of its payload is there.
  bool end_get_data(const frame& f) noexcept;

 private:
  void begin_small_put(op& o) noexcept;
  void begin_get(op& o) noexcept;
  void begin_atomic(op& o) noexcept;

  shared_state& shared_;
  write_queue& out_;
  request_table requests_;  // gets and atomics in flight
};

}  // namespace heddle::transport::tcp
