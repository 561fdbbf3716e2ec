// SPDX-License-Identifier: BSD-3-Clause
// write_queue.h - what one connection still has to write: small frames by copy, large data by
// reference.
//
// The stream is made of whole frames. Small frames go into one buffer, and out of it in order.
// Large transfers wait in two queues, ours and the answers to the peer, and are cut into fragments:
// the header of a fragment goes into the buffer, and its body from where it lies, before whatever
// comes into the buffer later. So a small frame waits for one fragment at most, never for a whole
// transfer.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/tcp/fifo.h"
#include "backends/tcp/frame.h"
#include "backends/tcp/send_buffer.h"
#include "backends/tcp/shared.h"
#include "backends/tcp/stream.h"
#include "memory/region_table.h"
#include "transport/op.h"

namespace heddle::transport::tcp {

inline constexpr std::size_t post_bytes = 256 * 1024;  ///< small frames queued by post()
inline constexpr std::size_t post_transfers = 64;      ///< large ones
inline constexpr std::size_t inline_reply = 256;       ///< gets up to this are answered by copy

class write_queue {
 public:
  enum class flow : std::uint8_t {
    drained,  ///< nothing is left to write
    blocked,  ///< the socket takes no more now, or had its share for this turn
    broken,   ///< the connection is gone, or the peer keeps no window
  };

  explicit write_queue(shared_state& shared) noexcept : shared_(shared) {}

  /// Small frames. extend() answers null when the peer has more requests open than the protocol
  /// allows.
  send_buffer frames{capacity};
  /// True when a small frame of ours may be added.
  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
    return frames.size() + bytes <= post_bytes;
  }

  [[nodiscard]] bool has_transfer_room() const noexcept { return own_.size() < post_transfers; }
  /// The bytes of the put `o`, which are read until it ends.
  void add_put(op& o) noexcept;
  /// What follows the last frame of a put that tells.
  [[nodiscard]] static std::size_t notice_bytes(const op& o) noexcept {
    return o.tells ? common_header + sizeof o.head + o.header.size() : 0;
  }
  /// The same, into the stream. False: as extend().
  [[nodiscard]] bool add_notice(const op& o) noexcept;
  /// The answer to the peer's get. False: the peer has more gets open than allowed.
  [[nodiscard]] bool add_reply(const frame& get) noexcept;

  [[nodiscard]] bool empty() const noexcept {
    return frames.size() == 0 && own_.empty() && replies_.empty();
  }
  /// Writes until blocked, or for one turn.
  flow flush(stream& to) noexcept;
  /// Forgets everything; the puts that were not all in the stream end as lost.
  void discard() noexcept;

  std::uint64_t written = 0;  ///< bytes, ever
  int error = 0;              ///< of errno: why flush() found the connection broken

  /// Puts whose last frame is in the stream, oldest first: the order of acknowledgements.
  fifo<op*> unacknowledged;
  /// Of one of those: its data is still being read.
  [[nodiscard]] bool is_sending(const op* put) const noexcept { return put == unfinished_; }

 private:
  struct transfer {
    op* put = nullptr;           // null: an answer, or its last frame is in the stream
    std::uint32_t id = 0;        // answer: the peer's request
    status code = status::done;  // answer: how it ends
    memory::region_ref region;
    std::uint64_t offset = 0;
    const std::byte* data = nullptr;     // put
    std::uint64_t bytes = 0, begun = 0;  // of payload; of which in fragments that have begun
  };
  // One write: what goes, and what has to stay until it is done.
  struct gathered {
    std::array<iovec, 3> parts;
    std::size_t count = 0, bytes = 0;
    memory::region_table::pinned pin;
    void add(const void* at, std::size_t size) noexcept;
  };

  static constexpr std::size_t turn_bytes = 1024 * 1024;
  static constexpr std::size_t capacity = post_bytes + request_window * (16 + inline_reply) +
                                          put_window * 8 + 2 * max_header + max_notice;

  [[nodiscard]] transfer& sending() noexcept { return (answering_ ? replies_ : own_).front(); }
  bool begin_fragment() noexcept;
  bool begin_put(transfer& t) noexcept;
  bool begin_reply(transfer& t) noexcept;
  void begin_body(transfer& t, std::uint64_t bytes) noexcept;
  void gather(gathered& g) noexcept;
  void gather_body(gathered& g) noexcept;
  bool advance(std::size_t bytes) noexcept;
  bool end_fragment() noexcept;
  bool end_reply() noexcept;

  shared_state& shared_;
  fifo<transfer> own_, replies_;
  // The fragment under way, of the front of one of the queues: of its body this is still to be
  // written, behind so many bytes of `frames`.
  std::uint64_t body_left_ = 0;
  std::size_t before_body_ = 0;
  bool answering_ = false;    // it is of `replies_`
  op* unfinished_ = nullptr;  // or it is the last one of this put
};

}  // namespace heddle::transport::tcp
