// SPDX-License-Identifier: BSD-3-Clause
// messages.h - messages between this lane and its peers': puts into rings.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "backends/utofu/buffers.h"
#include "backends/utofu/credits.h"
#include "backends/utofu/exposed.h"
#include "backends/utofu/peers.h"
#include "backends/utofu/work_queue.h"
#include "base/copy.h"
#include "transport/outbox.h"

namespace heddle::transport::utofu {

class messages {
 public:
  messages(work_queue& queue, peers& known, credits& freed, outbox& events,
           const exposed_regions& exposed, registered_memory buffer, std::uint64_t nonce)
      : queue_(queue),
        peers_(known),
        credits_(freed),
        events_(events),
        exposed_(exposed),
        buffer_(buffer),
        nonce_(nonce) {}

  struct message {
    const message_head& head;
    std::span<const std::byte> header, data;
    /// The common tag of an array: behind the put to it that has just been posted. 0: of none.
    std::uint16_t tells_of = 0;
    [[nodiscard]] std::uint32_t order() const noexcept {
      return tells_of != 0 ? UTOFU_ONESIDED_FLAG_STRONG_ORDER : 0;
    }
    [[nodiscard]] std::size_t bytes() const noexcept {
      return sizeof head + header.size() + data.size();
    }
  };
  /// To a connected peer. done, busy_queue, or why it can never be sent.
  [[nodiscard, gnu::always_inline]] status send(peer_state& to, const message& m) noexcept {
    constexpr std::size_t most = max_piggyback - sizeof(message_header) - sizeof m.head;
    const bool small = m.header.size() <= most && m.data.size() <= most - m.header.size();
    return small && !to.out.polled() && !queue_.listing() ? send_small(to, m) : send_any(to, m);
  }
  /// A list was posted: it has one notice at most, so its messages ask for none.
  void after_list() noexcept {
    if (is_due()) ask_for_departure();
  }
  /// What is needed to take one of a list back.
  struct note {
    std::uint32_t lines = 0;
    std::uint32_t unasked = 0;
    std::uint64_t taken = 0;  ///< of the send buffer
    std::uint64_t told = 0;   ///< of the peer's ring
  };
  /// As send(), in a list that is open. Makes notes.
  [[nodiscard]] status send_in_list(peer_state& to, op& o) noexcept;
  void take_back(peer_state& to, const note& n) noexcept;

  /// A notice told of a message.
  void on_arrived(peer_state& from, bool wrapped) noexcept;
  /// A peer whose ring no notice tells of.
  void add_polled(peer_state& p) { polled_.push_back(&p); }
  void look() noexcept {
    for (peer_state* p : polled_) look_at(*p);
  }
  /// What was sent is to be heard of.
  void ask_for_departure() noexcept;
  /// The peer is gone.
  void forget(peer_state& p) noexcept { queue_.window().vacate(p.out.free_all()); }

  /// All that was sent has left, as far as drain() has heard.
  [[nodiscard]] bool idle() const noexcept {
    return unasked_ == 0 && asked_ == queue_.departures();
  }

 private:
  [[nodiscard, gnu::always_inline]] status send_small(peer_state& to, const message& m) noexcept;
  [[nodiscard, gnu::noinline]] status send_any(peer_state& to, const message& m) noexcept;
  void sent(peer_state& to, std::uint32_t lines, bool asked) noexcept;
  [[nodiscard]] bool is_due() const noexcept;
  [[nodiscard, gnu::noinline]] bool has_room_now(peer_state& to, std::uint32_t lines) noexcept;
  /// When the window is crowded, each peer still takes one message after the other.
  [[nodiscard]] bool has_room(const peer_state& to, std::uint32_t lines) const noexcept {
    return to.out.has_room(lines) && (!queue_.window().crowded() || to.out.under_way() == 0);
  }
  [[nodiscard]] bool room_for(peer_state& to, std::uint32_t lines) noexcept {
    return has_room(to, lines) || has_room_now(to, lines);
  }
  [[nodiscard]] bool find_in_buffer(std::size_t bytes, send_buffer::piece& out) noexcept;
  [[nodiscard]] bool mark_wrap(peer_state& to, const outgoing_ring::place& at) noexcept;
  void deliver(peer_state& from, const incoming_message& m) noexcept;
  void look_at(peer_state& p) noexcept;

  work_queue& queue_;
  peers& peers_;
  credits& credits_;
  outbox& events_;
  const exposed_regions& exposed_;
  send_buffer buffer_;
  const std::uint64_t nonce_;      // of this process
  std::uint64_t asked_ = 0;        // departures
  std::uint32_t unasked_ = 0;      // messages since then
  std::uint64_t asked_up_to_ = 0;  // of the send buffer
  std::vector<peer_state*> polled_;
};

/// So much may leave before it is asked whether it has: a notice for each message would cost as
/// much as a small message.
inline constexpr std::uint32_t most_unasked = 32;
inline constexpr std::uint64_t most_unasked_bytes = 32 * 1024;

inline bool messages::is_due() const noexcept {
  return unasked_ >= most_unasked || buffer_.taken() - asked_up_to_ >= most_unasked_bytes;
}

inline void messages::sent(peer_state& to, std::uint32_t lines, bool asked) noexcept {
  to.out.advance(lines);
  to.in.tell(to.in.released());
  queue_.window().occupy(lines);
  ++unasked_;
  if (!asked) [[likely]]
    return;
  ++asked_;
  asked_up_to_ = buffer_.taken();
  unasked_ = 0;
}

/// In one line, out of the work request: the most frequent ones.
inline status messages::send_small(peer_state& to, const message& m) noexcept {
  const outgoing_ring::place at = to.out.next(1);
  if (!room_for(to, 1)) [[unlikely]]
    return status::busy_queue;
  // Longer than it is filled: the compiler does not see that these copies are of 8 bytes at most.
  std::array<std::byte, 128> data;
  const message_header first{static_cast<std::uint16_t>(m.bytes()), m.tells_of,
                             static_cast<std::uint32_t>(to.in.released())};
  std::memcpy(data.data(), &first, sizeof first);
  std::memcpy(data.data() + sizeof first, &m.head, sizeof m.head);
  std::byte* const rest = data.data() + sizeof first + sizeof m.head;
  copy_short(rest, m.header);
  copy_short(rest + m.header.size(), m.data);
  const bool ask = is_due();
  const status s = queue_.submit([&] {
    work_request c;
    c.what = work_request::form::piggyback;
    c.data = data.data();
    c.to = to.vcq->with_path;
    c.there = at.address;
    c.bytes = sizeof first + m.bytes();
    c.edata = edata_message;
    c.flags = UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE | m.order();
    if (ask) work_queue::ask_for_departure(c, buffer_.taken());
    return c;
  });
  if (s == status::done) [[likely]]
    sent(to, 1, ask);
  return s;
}

}  // namespace heddle::transport::utofu
