// outbox.h - what one connection still has to write: small frames by copy, large data by reference.
//
// The stream is made of whole frames. Small frames go into one buffer, and out of it in order.
// Large transfers wait in two queues, ours and the replies to the peer, and are cut into
// fragments; before each fragment goes what is in the buffer, so that a small frame waits for one
// fragment at most, never for a whole transfer.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/tcp/fifo.h"
#include "backends/tcp/frame.h"
#include "backends/tcp/records.h"
#include "backends/tcp/socket.h"
#include "memory/region_table.h"

namespace heddle::transport::tcp {

inline constexpr std::size_t post_bytes = 256 * 1024;  ///< small frames queued by post()
inline constexpr std::size_t post_transfers = 64;      ///< large ones
inline constexpr std::size_t inline_reply = 256;       ///< gets up to this are answered by copy

/// What the connections of one endpoint share.
struct shared_state {
  shared_state(std::size_t most_records, memory::region_table& table, std::size_t chunk)
      : records(most_records), regions(table), chunk_bytes(chunk) {}

  record_pool records;
  memory::region_table& regions;
  std::size_t chunk_bytes;                   ///< payload of one fragment
  std::array<std::byte, 64 * 1024> nowhere;  ///< takes what nobody wants any more; never read
};

class outbox {
 public:
  enum class flow : std::uint8_t {
    drained,  ///< nothing is left to write
    blocked,  ///< the socket takes no more now, or had its share for this turn
    broken,   ///< the connection is gone, or the peer keeps no window
  };

  explicit outbox(shared_state& shared);

  /// True when a frame of `bytes` may be posted.
  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
    return buffered() + bytes <= post_bytes;
  }
  /// Room for a frame of `bytes` at the end of the buffer, which is then part of the stream.
  /// Null: the peer has more requests open than the protocol allows (not after has_room()).
  [[nodiscard]] std::byte* extend(std::size_t bytes) noexcept {
    if (capacity - tail_ < bytes && !compact(bytes)) return nullptr;
    std::byte* at = buffer_.get() + tail_;
    tail_ += bytes;
    return at;
  }
  /// Bytes of small frames not written yet.
  [[nodiscard]] std::size_t buffered() const noexcept { return tail_ - head_; }

  [[nodiscard]] bool has_transfer_room() const noexcept { return own_.size() < post_transfers; }
  /// The op's data is read until its record ends; the record is acknowledged like a small put's.
  void add_put(record_id id, memory::region_ref to, std::uint64_t offset,
               std::span<const std::byte> data) noexcept;
  /// The answer to the peer's get `id`. False: the peer has more gets open than allowed.
  [[nodiscard]] bool add_reply(std::uint32_t id, memory::region_ref from, std::uint64_t offset,
                               std::uint64_t bytes) noexcept;

  [[nodiscard]] bool empty() const noexcept {
    return head_ == tail_ && own_.empty() && replies_.empty();
  }
  /// Writes until blocked, or for one turn.
  flow flush(int fd) noexcept;
  /// Forgets everything.
  void discard() noexcept;

  std::uint64_t written = 0;  ///< bytes, ever
  int error = 0;              ///< of errno: why flush() found the connection broken

  /// Puts whose last frame is in the stream, oldest first: the order of acknowledgements.
  record_list unacknowledged;

 private:
  struct transfer {
    enum class kind_t : std::uint8_t { put, reply };
    kind_t kind = kind_t::put;
    status code = status::done;  // reply: how it ends
    std::uint32_t id = 0;        // put: our record; reply: the peer's request
    memory::region_ref region;
    std::uint64_t offset = 0;
    std::span<const std::byte> data;    // put
    std::uint64_t bytes = 0, done = 0;  // of payload; in complete fragments
  };
  // The fragment under way: of the front of `queue`.
  struct fragment {
    fifo<transfer>* queue = nullptr;  // null: none
    std::array<std::byte, max_header> head;
    std::size_t head_bytes = 0;
    std::uint64_t body = 0;
    std::uint64_t written = 0;  // of head and body
    bool last = false;
  };
  // One write: what goes, and what has to stay until it is done.
  struct gathered {
    std::array<iovec, 3> parts;
    std::size_t count = 0, bytes = 0;
    memory::region_table::pinned pin;
    void add(const void* at, std::size_t size) noexcept;
  };

  static constexpr std::size_t turn_bytes = 1024 * 1024;
  static constexpr std::size_t capacity =
      post_bytes + request_window * (16 + inline_reply) + put_window * 8 + 64;

  bool compact(std::size_t bytes) noexcept;
  bool begin_fragment() noexcept;
  void write_head(const transfer& t) noexcept;
  void gather(gathered& g) noexcept;
  void gather_small(gathered& g) noexcept;
  bool gather_fragment(gathered& g) noexcept;
  bool gather_reply(gathered& g, transfer& t, std::uint64_t from, std::uint64_t bytes) noexcept;
  void advance(std::size_t bytes) noexcept;
  std::size_t advance_small(std::size_t bytes) noexcept;
  std::size_t advance_fragment(std::size_t bytes) noexcept;
  void end_fragment() noexcept;
  void end_transfer() noexcept;

  shared_state& shared_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t head_ = 0, tail_ = 0;
  fifo<transfer> own_, replies_;
  fragment fragment_;
  bool replies_turn_ = false;
  bool violated_ = false;
};

}  // namespace heddle::transport::tcp
