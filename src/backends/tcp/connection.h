// SPDX-License-Identifier: BSD-3-Clause
// connection.h - one authenticated connection to a peer: its stream in both directions.
//
// Incoming frames are acted on: what the peer asks goes to the target, what it answers to the
// initiator, and messages become events.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "backends/tcp/initiator.h"
#include "backends/tcp/peer_lane.h"
#include "backends/tcp/reassembler.h"
#include "backends/tcp/stream.h"
#include "backends/tcp/target.h"
#include "backends/tcp/write_queue.h"
#include "base/copy.h"
#include "transport/event.h"

namespace heddle::transport::tcp {

/// Where poll() puts its events.
struct event_sink {
  std::span<event> out;
  std::size_t count = 0;
  [[nodiscard]] bool full() const noexcept { return count == out.size(); }
  [[nodiscard]] std::span<event> rest() const noexcept { return out.subspan(count); }
  void add(const event& e) noexcept { out[count++] = e; }
};

/// Owner thread only.
class connection {
 public:
  enum class reading : std::uint8_t {
    quiet,  ///< nothing is left to take
    some,   ///< something was taken, and nothing seems left
    more,   ///< there may be more to take at once: the sink is full or the turn is over
    ended,  ///< the peer has closed, and all it said was acted on
    broken  ///< the connection is gone, or the peer breaks the rules
  };

  /// `ours`: this side made it.
  connection(stream with, peer_lane& peer, bool ours, shared_state& shared)
      : stream_(std::move(with)),
        peer_(peer),
        ours_(ours),
        out_(shared),
        ops_(shared, out_),
        target_(shared, out_) {}

  [[nodiscard]] peer_lane& peer() const noexcept { return peer_; }
  [[nodiscard]] bool ours() const noexcept { return ours_; }
  [[nodiscard]] int fd() const noexcept { return stream_.fd(); }
  [[nodiscard]] unique_fd release() noexcept { return stream_.release(); }
  [[nodiscard]] write_queue& out() noexcept { return out_; }

  /// The lower one: this connection is the one, and the peer was told so.
  void choose() noexcept { chosen_ = true; }
  /// True from choose() on, or since the lower one has said so: before, nothing may be posted.
  [[nodiscard]] bool chosen() const noexcept { return chosen_; }
  /// True when the peer, which chooses, ended it in order without having chosen it.
  [[nodiscard]] bool turned_away() const noexcept { return !chosen_ && bye_; }

  /// As endpoint::send; only on a chosen connection, as all that is posted, and the writer is to
  /// hear of it.
  status send(message_head head, std::span<const std::byte> header,
              std::span<const std::byte> data) noexcept;
  /// The same for a short message that joins those that are gathered. False: nothing has happened.
  bool join(message_head head, std::span<const std::byte> header,
            std::span<const std::byte> data) noexcept {
    const std::size_t copied = header.size() + data.size();
    if (copied > most_short) [[unlikely]]
      return false;
    std::byte* at = out_.frames.join(common_header + sizeof head + copied);
    if (at == nullptr) [[unlikely]]
      return false;
    at += write_message(at, static_cast<std::uint32_t>(sizeof head + copied));
    std::memcpy(at, &head, sizeof head);
    copy_short(at + sizeof head, header);
    copy_short(at + sizeof head + header.size(), data);
    return true;
  }
  [[nodiscard]] initiator& ops() noexcept { return ops_; }

  /// Takes what has arrived and acts on it, for one turn. Messages added to `sink` lie in this
  /// connection's buffer and stay until the next call.
  reading receive(event_sink& sink) noexcept;
  write_queue::flow flush() noexcept { return out_.flush(stream_); }

  /// For people: how it came to its end, after receive() or flush() has said so.
  [[nodiscard]] std::string describe_end() const;

  /// Its peer is being lost: nothing is written any more, and it is read only so far that the peer
  /// gets to finish what it had said.
  void stop_writing() noexcept;
  /// True when the peer owes something and has moved no byte for so long. Asked now and then;
  /// `away_ms`: for so long of the time since, nobody was here to look.
  [[nodiscard]] bool is_stuck(std::uint64_t timeout_ms, std::uint64_t away_ms) noexcept;

  // Notes about this connection, each of one part of the endpoint.
  bool used = false;              ///< chosen, and the endpoint has noticed
  bool dirty = false;             ///< on the writer's list
  bool blocked = false;           ///< its last write found the socket full
  bool over = false;              ///< reading or writing found it ended or broken
  bool mute = false;              ///< fell silent
  bool stalled = false;           ///< on the reader's list of those to read again at once
  bool exhausted = false;         ///< nothing more will be read
  std::uint32_t watched = 0;      ///< what the epoll set tells about it; 0: it is not in the set
  std::uint32_t quiet_polls = 0;  ///< in a row that found nothing to read
  std::uint64_t polled_in = 0;    ///< the last poll that read it
  std::uint64_t received = 0;     ///< bytes, ever
  std::uint64_t read_limit = ~std::uint64_t{0};  ///< how much of `received` is waited for

 private:
  enum class taken : std::uint8_t { all, sink_full, rules_broken };

  taken take_frames(event_sink& sink) noexcept;
  transferred read_some(std::size_t& asked) noexcept;
  transferred read_payload(std::size_t& asked) noexcept;
  bool act(const reassembler::item& i, event_sink& sink) noexcept;
  bool go_on(const reassembler::item& i) noexcept;
  bool end_frame(const frame& f) noexcept;

  stream stream_;
  peer_lane& peer_;
  bool ours_;
  bool chosen_ = false, bye_ = false;
  write_queue out_;
  reassembler in_;
  initiator ops_;
  target target_;

  frame frame_;                     // the put or get_data under way:
  std::uint32_t missing_ = 0;       // bytes of its payload that are not here yet; 0: there is none
  transferred last_read_;           // how the reading side ended, once it has
  std::uint64_t moved_before_ = 0;  // bytes both ways when is_stuck() last saw it move,
  std::uint64_t moved_at_ms_ = now_ms();  // and when that was
};

}  // namespace heddle::transport::tcp
