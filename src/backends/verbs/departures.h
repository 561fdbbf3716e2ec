// SPDX-License-Identifier: BSD-3-Clause
// departures.h - what goes out: the flights of all streams, issued, and ended when their
// completions say so.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/verbs/accesses.h"
#include "backends/verbs/completions.h"
#include "backends/verbs/connector.h"
#include "backends/verbs/peers.h"
#include "backends/verbs/slots.h"
#include "backends/verbs/work_list.h"
#include "transport/outbox.h"

namespace heddle::transport::verbs {

class departures {
 public:
  departures(const lane_queues& of_lane, connector& by, completions& of, accesses& data,
             slots& through, peers& known, outbox& events);

  /// Whether so many flights have room, and what may have to follow them.
  [[nodiscard]] bool has_room(const stream& s, std::uint32_t count) const noexcept {
    return s.flights.has_room(count + (visible_puts_ ? 1 : 0));
  }
  /// Adds a message to its stream, where it joins those that have not left. busy_queue: there is
  /// no room, or the peer has none.
  [[nodiscard]] status add_message(peer_lane& p, message_head head,
                                   std::span<const std::byte> header,
                                   std::span<const std::byte> data, bool follows = false) noexcept;
  /// Issues what the stream has, by one doorbell. What there is no room for goes with move().
  void push(peer_lane& p) noexcept;
  /// The same, or nothing yet: while much is under way, what is posted gathers into one list.
  /// Whoever takes the next completion issues it, so nothing stays although nobody posts any more.
  void push_soon(peer_lane& p) noexcept {
    if (p.out.flights.awaited() < much || p.out.flights.gathered() >= whole_list) return push(p);
    unpushed_.add(p);
  }
  void move() noexcept {
    unpushed_.take_all([this](peer_lane& p) { push_soon(p); });
  }
  /// A completion of a flight.
  void on_flight(const ibv_wc& c) noexcept;
  /// Nothing goes to the peer or comes from there any more, and the card touches no memory for it.
  void forget(peer_lane& p) noexcept;

  /// Asks after flights of whose end nothing tells.
  void settle() noexcept;
  /// Asks after peers from which the card awaits nothing, some at a time, in turn.
  void probe_some() noexcept;
  /// All messages have left.
  [[nodiscard]] bool idle() const noexcept { return parcels_ == 0; }

 private:
  static constexpr std::uint32_t much = 8, whole_list = 32;

  [[nodiscard]] flight* begin_parcel(peer_lane& p, bool follows) noexcept;
  void finish_oldest(peer_lane& p) noexcept;
  [[gnu::noinline]] void fail_oldest(peer_lane& p, ibv_wc_status why) noexcept;
  void discard_oldest(peer_lane& p, status how) noexcept;
  void end_queue_pair(stream& s) noexcept;
  void add_mark(peer_lane& p) noexcept;
  void add_look(peer_lane& p) noexcept;

  connector& connector_;
  completions& completions_;
  accesses& accesses_;
  slots& slots_;
  peers& peers_;
  outbox& events_;
  work_list works_;
  const bool visible_puts_;
  std::byte* const landing_;                                  // of looks
  todo_list<peer_lane, &peer_lane::in_unpushed> unpushed_;    // with flights to issue
  todo_list<peer_lane, &peer_lane::in_unsettled> unsettled_;  // whose last flights tell nothing
  std::uint32_t room_;                                        // for completions of flights
  std::size_t parcels_ = 0;                                   // of messages, that have not left
  std::size_t next_probe_ = 0;
};

}  // namespace heddle::transport::verbs
