// SPDX-License-Identifier: BSD-3-Clause
// peer.h - what a lane keeps of one peer it has had to do with: one lane of one rank.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/lane_table.h"
#include "protocols/credit.h"
#include "protocols/flush_queue.h"
#include "protocols/message.h"
#include "protocols/request.h"
#include "protocols/strategy.h"
#include "transport/device.h"

namespace heddle::protocols {

struct surroundings;

/// A peer's region that large messages have come from, kept mapped for the next one.
struct mapped_region {
  memory::region_ref ref;
  detail::remote_target target;
  std::shared_ptr<void> mapping;

  /// It is in use, and its owner has not withdrawn it.
  [[nodiscard]] bool lives() const noexcept {
    return mapping != nullptr && target.live->is(target.generation);
  }
};

/// The way to a peer over one wire.
struct rail {
  transport::endpoint* by = nullptr;  ///< null: there is none
  transport::remote_lane* to = nullptr;
};

/// Of a peer that is reached over several, for its large transfers.
struct several_rails {
  std::vector<rail> rails;  ///< the first is peer::wire; one that was given up has no endpoint
  std::unique_ptr<strategy> plan;
  std::uint64_t least_bytes = 0;  ///< smaller transfers go over the first
  std::size_t under_way = 0;      ///< stripes
  request_queue waiting;          ///< transfers without any, until others' end
};

struct peer {
  // Constant after it was made.
  rank number = 0;
  int lane = 0;
  rail wire;
  rail atomics;  ///< set: another wire does the atomics on the peer
  std::uint8_t device = 0;
  bool copies_in_post = false;   ///< traits::copies_in_post
  bool refuses_late = false;     ///< traits::refuses_late
  bool put_tells = false;        ///< traits::put_tells
  transport::op_set native = 0;  ///< kinds the endpoint takes
  transport::atomic_set native_atomics = transport::atomic_set::none();  ///< `wire` does itself
  bool network_atomics = false;  ///< `wire` does them, and the CPU's do not see them
  bool no_atomics = false;       ///< a network does the atomics on the peer, and is not reached
  std::size_t max_op = 0;        ///< traits::max_op
  std::size_t max_straight = 0;  ///< larger transfers go in parts
  /// Puts and gets of up to so many bytes go to the wire at once where nothing waits before them.
  std::size_t max_put_at_once = 0, max_get_at_once = 0;
  std::size_t max_payload = 0;  ///< of one message, beside max_overhead
  std::size_t eager_bytes = 0;  ///< larger messages rendezvous

  [[nodiscard]] destination address() const noexcept { return {number, lane}; }
  [[nodiscard]] bool takes(transport::op_kind k) const noexcept {
    return (native & transport::only(k)) != 0;
  }

  /// What a receive is told of a message that this peer has sent.
  [[nodiscard]] outcome received(status code, heddle::tag t, std::size_t bytes) const noexcept {
    return {code, static_cast<std::int16_t>(lane), number, t, bytes};
  }

  /// No wire takes or brings anything of it any more.
  void drop() noexcept;

  // Order and what is in flight: path, operations, flushes.
  bool lost = false;
  bool blocked = false;  ///< something waits for room or credit: messages go behind it
  [[nodiscard]] bool is_free() const noexcept { return !lost && !blocked; }
  peer_requests requests;       ///< every one that needs this peer, but those that went straight
  request_queue backlog;        ///< in the order they must go out
  std::deque<message> control;  ///< the protocols' own messages: first, and never refused
  flush_queue flushes;          ///< of this peer alone
  std::uint64_t counted = 0;    ///< puts, gets, atomics in flight

  protocols::credit credit;                             ///< flow, eager, tagged
  static constexpr std::size_t announcements_each = 2;  ///< of a peer's record, and what is queued
  std::size_t announcements = 0;  ///< large messages whose data nobody has asked for yet

  // Counted, as peer_counters of counters.h tells.
  std::uint64_t sent_messages = 0, sent_bytes = 0;
  std::uint64_t received_messages = 0, received_bytes = 0;
  std::uint64_t accesses = 0, accessed_bytes = 0;
  void note_sent(std::size_t bytes) noexcept {
    ++sent_messages;
    sent_bytes += bytes;
  }

  // Transfers.
  std::unique_ptr<several_rails> several;  ///< null: there is one rail
  std::array<mapped_region, 8> mapped;     ///< the last used; if none is free, `next_mapped` goes
  std::size_t next_mapped = 0;

  // Signs of life: liveness.
  bool heard = false;    ///< anything came since the last look
  bool awaited = false;  ///< a posted receive names it: as of the last look
  bool pinged = false;
  std::uint64_t silent_since_ns = 0;
};

/// The peers of a lane. Holder only.
class peer_table {
 public:
  peer_table(const surroundings& where,
             std::span<const std::unique_ptr<transport::endpoint>> endpoints);

  /// Null: there is no such rank, it has no lane of that number here, or there is no memory.
  [[nodiscard]] peer* reach(destination d) {
    peer* const known = find(d);
    return known != nullptr ? known : make(d);
  }
  /// Why reach() has just given null: invalid, or no_memory.
  [[nodiscard]] status why_none(destination d) const noexcept;
  /// As reach(); null as well: it has not had to do with this lane.
  [[nodiscard]] peer* find(destination d) const noexcept {
    if (d.lane == same_lane) [[likely]]
      return of_own_lane_.find(static_cast<std::size_t>(d.to));
    return find_by_lane(d);
  }
  [[nodiscard]] bool valid(rank r) const noexcept {
    return static_cast<std::size_t>(static_cast<unsigned>(r)) < size_;
  }
  /// A receive may name it.
  [[nodiscard]] bool may_be_source(rank r) const noexcept { return r == any_source || valid(r); }
  /// A receive is to wait for `source`, which is looked after from now on: done, no_memory,
  /// peer_lost.
  [[nodiscard]] status look_after(rank source) {
    if (source == any_source) return status::done;
    const peer* const from = reach(source);
    if (from == nullptr) return status::no_memory;
    return from->lost ? status::peer_lost : status::done;
  }
  /// All there are. Grows at the end while somebody goes through it by index.
  [[nodiscard]] const std::vector<peer*>& all() const noexcept { return all_; }
  void clear() noexcept;

 private:
  [[gnu::noinline]] peer* find_by_lane(destination d) const noexcept;
  [[gnu::noinline]] peer* make(destination d);
  [[nodiscard]] rail rail_on(std::size_t device, destination d) const noexcept;
  [[nodiscard]] std::uint8_t device_for(destination d) const noexcept;
  [[nodiscard]] std::unique_ptr<several_rails> others_beside(std::size_t device,
                                                             destination d) const;
  const surroundings& where_;
  const std::span<const std::unique_ptr<transport::endpoint>> endpoints_;
  const int own_lane_;
  std::size_t size_;  // of the job; 0 after clear()
  // Those the lane has had to do with: those of its own number, which most are, and the others.
  paged_table<peer> of_own_lane_;
  lane_table<peer> others_;
  std::vector<peer*> all_;
};

}  // namespace heddle::protocols
